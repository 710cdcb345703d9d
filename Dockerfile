# An image that holds one static program and nothing else:
#
#   docker build -t YOURS:TAG .
#
# An empty base image is enough: the API server's certificate authority comes with the
# Pod's ServiceAccount, the program writes no files, and it prints times in UTC.
FROM golang:1.26 AS build
WORKDIR /src
# The modules are one layer, which changes only with these two files.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# Without cgo there is no C library to link.
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /byhand .

FROM scratch
COPY --from=build /byhand /byhand
# By number, so that a kubelet can see that it is not root.
USER 65532:65532
ENTRYPOINT ["/byhand"]

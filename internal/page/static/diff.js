// The difference of two JSON values: a list of {path, before, after}. A value that
// is not there is undefined.

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

const byField = (object) => new Map(Object.entries(object).map(([key, value]) => [`.${key}`, value]));
const byNumber = (list) => new Map(list.map((member, i) => [`[${i}]`, member]));

// Members of lists are found again by what names them, as the API does it.
function byName(list) {
  const field = ['type', 'name', 'uid'].find((f) => list.every((member) => isObject(member) && typeof member[f] === 'string'));
  const members = new Map(list.map((member) => [`[${field}=${member?.[field]}]`, member]));
  return field && members.size === list.length ? members : null;
}

// What two values consist of, each part by where it is; nothing if they are no two of a kind.
function partsOf(before, after) {
  if (isObject(before) && isObject(after)) {
    return [byField(before), byField(after)];
  }
  if (!Array.isArray(before) || !Array.isArray(after)) {
    return [];
  }
  const named = [byName(before), byName(after)];
  return named.every(Boolean) ? named : [byNumber(before), byNumber(after)];
}

function walk(before, after, path, found) {
  const [a, b] = partsOf(before, after);
  if (a) {
    for (const key of new Set([...a.keys(), ...b.keys()])) {
      walk(a.get(key), b.get(key), path + key, found);
    }
  } else if (!Object.is(before, after)) {
    found.push({path: path.replace(/^\./, ''), before, after});
  }
}

/** What changed from one value to the other, by path. */
export function difference(before, after) {
  const found = [];
  walk(before, after, '', found);
  return found;
}

/** A value on one line, cut off where it is long. */
export function brief(value) {
  const text = JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

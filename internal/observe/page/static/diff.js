// The difference of two JSON values: a list of {path, before, after}. A missing value is undefined.

const isObject = (value) => value !== null && typeof value === 'object';

// The members of an object by name. Members of a list are named by a unique type, name or uid, as in
// the API, else by index.
function membersOf(value) {
  if (!Array.isArray(value)) {
    return new Map(Object.entries(value).map(([name, member]) => [`.${name}`, member]));
  }
  const names = value.map((member) => member?.type ?? member?.name ?? member?.uid);
  const alone = (name) => name !== undefined && names.indexOf(name) === names.lastIndexOf(name);
  return new Map(value.map((member, i) => [`[${alone(names[i]) ? names[i] : i}]`, member]));
}

function walk(before, after, path, found) {
  if (isObject(before) && isObject(after) && Array.isArray(before) === Array.isArray(after)) {
    const [a, b] = [membersOf(before), membersOf(after)];
    for (const key of new Set([...a.keys(), ...b.keys()])) {
      walk(a.get(key), b.get(key), path + key, found);
    }
  } else if (!Object.is(before, after)) {
    found.push({path: path.replace(/^\./, ''), before, after});
  }
}

/** The changes from one value to the other, by path. */
export function difference(before, after) {
  const found = [];
  walk(before, after, '', found);
  return found;
}

/** A value on one line, truncated if long. */
export function brief(value) {
  const text = JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

// The difference of two JSON values: a list of {path, before, after}. A value that
// is not there is undefined.

const isObject = (value) => value !== null && typeof value === 'object';

// The members of an object by their names, and of a list by what names one of them alone, as the API
// does it, or else by where they stand.
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

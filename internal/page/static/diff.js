// The difference of two JSON values: a list of {path, before, after}. A value that
// is not there is undefined.

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

// Members of lists are found again by what names them, as the API does it.
function named(list) {
  const field = ['type', 'name', 'uid'].find((f) => list.every((member) => isObject(member) && typeof member[f] === 'string'));
  if (!field) {
    return null;
  }
  const byName = new Map(list.map((member) => [`${field}=${member[field]}`, member]));
  return byName.size === list.length ? byName : null;
}

const join = (path, key) => (path === '' ? key : `${path}.${key}`);

function walk(before, after, path, found) {
  if (Object.is(before, after)) {
    return;
  }
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      walk(before[key], after[key], join(path, key), found);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const [a, b] = [named(before), named(after)];
    if (a && b) {
      for (const key of new Set([...a.keys(), ...b.keys()])) {
        walk(a.get(key), b.get(key), `${path}[${key}]`, found);
      }
    } else {
      for (let i = 0; i < Math.max(before.length, after.length); i++) {
        walk(before[i], after[i], `${path}[${i}]`, found);
      }
    }
    return;
  }
  found.push({path, before, after});
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

/** A group of waiting items: of other groups, or of items in the order of their arrival. */
interface Group<T> {
  size: number;
  /** In the order of their turns. */
  groups: Map<string, Group<T>>;
  items: T[];
}

const createGroup = <T>(): Group<T> => ({ size: 0, groups: new Map(), items: [] });

const push = <T>(group: Group<T>, [name, ...path]: readonly string[], item: T): void => {
  group.size++;
  if (name === undefined) {
    group.items.push(item);
    return;
  }
  const inner = group.groups.get(name) ?? createGroup<T>();
  group.groups.set(name, inner);
  push(inner, path, item);
};

const shift = <T>(group: Group<T>, [name]: Iterable<string> = group.groups.keys()): T | undefined => {
  group.size--;
  const inner = name === undefined ? undefined : group.groups.get(name);
  if (name === undefined || inner === undefined) return group.items.shift();
  const item = shift(inner);
  group.groups.delete(name);
  // Its next turn comes after those of all other groups.
  if (inner.size > 0) group.groups.set(name, inner);
  return item;
};

const dropLargest = <T>(group: Group<T>): T | undefined => {
  group.size--;
  let largest: [string, Group<T>] | undefined;
  for (const entry of group.groups) if (entry[1].size >= (largest?.[1].size ?? 0)) largest = entry;
  if (largest === undefined) return group.items.pop();
  const [name, inner] = largest;
  const item = dropLargest(inner);
  if (inner.size === 0) group.groups.delete(name);
  return item;
};

const wouldDrop = <T>({ groups }: Group<T>, [name, ...path]: readonly string[]): boolean => {
  if (name === undefined) return true;
  const own = groups.get(name);
  const size = (own?.size ?? 0) + 1;
  let hasPassed = false;
  for (const [other, group] of groups) {
    if (other === name) hasPassed = true;
    else if (group.size > size || (group.size === size && hasPassed)) return false;
  }
  return own === undefined || wouldDrop(own, path);
};

const remove = <T>(group: Group<T>, [name, ...path]: readonly string[], item: T): boolean => {
  if (name === undefined) {
    const at = group.items.indexOf(item);
    if (at < 0) return false;
    group.items.splice(at, 1);
  } else {
    const inner = group.groups.get(name);
    if (inner === undefined || !remove(inner, path, item)) return false;
    if (inner.size === 0) group.groups.delete(name);
  }
  group.size--;
  return true;
};

/** A queue in which a group with many items delays its own items, not those of other groups. */
export const createFairQueue = <T>() => {
  const all = createGroup<T>();
  return {
    get size(): number {
      return all.size;
    },
    /** `path` names the groups of an item from the widest to the narrowest, for example its network and its email. */
    push: (path: readonly string[], item: T): void => push(all, path, item),
    /**
     * The next item: groups take turns on each level. Undefined when nothing waits, or only items of widest groups that
     * `isBlocked`.
     */
    shift: (isBlocked?: (name: string) => boolean): T | undefined => {
      if (all.size === 0) return undefined;
      if (isBlocked === undefined) return shift(all);
      for (const name of all.groups.keys()) if (!isBlocked(name)) return shift(all, [name]);
      return undefined;
    },
    /** Removes the newest item of the largest group; of equal ones that whose turn comes last. */
    dropLargest: (): T | undefined => (all.size === 0 ? undefined : dropLargest(all)),
    /** Whether `dropLargest` would remove an item that was pushed with this path now. */
    wouldDrop: (path: readonly string[]): boolean => wouldDrop(all, path),
    /** Removes an item that was pushed with this path; false if it does not wait any more. */
    remove: (path: readonly string[], item: T): boolean => remove(all, path, item),
  };
};

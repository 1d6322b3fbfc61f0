/** A group of waiting items. It contains either inner groups, or items in the order of their arrival. */
interface Group<T> {
  size: number;
  /** Inner groups in the order of their turns. */
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
  // Moves the group behind all others.
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
  const group = groups.get(name);
  const size = (group?.size ?? 0) + 1;
  let hasPassed = false;
  for (const [otherName, other] of groups) {
    if (otherName === name) hasPassed = true;
    else if (other.size > size || (other.size === size && hasPassed)) return false;
  }
  return group === undefined || wouldDrop(group, path);
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

/** Creates a queue in which groups take turns, so that a group with many items delays only its own items. */
export const createFairQueue = <T>() => {
  const root = createGroup<T>();
  return {
    get size(): number {
      return root.size;
    },
    /** Adds an item. `path` names its groups from widest to narrowest, for example its network and its email. */
    push: (path: readonly string[], item: T): void => push(root, path, item),
    /**
     * Removes and returns the next item. Groups take turns on each level. `isBlocked` skips widest groups. Undefined if nothing
     * waits or all widest groups are blocked.
     */
    shift: (isBlocked?: (name: string) => boolean): T | undefined => {
      if (root.size === 0) return undefined;
      if (isBlocked === undefined) return shift(root);
      for (const name of root.groups.keys()) if (!isBlocked(name)) return shift(root, [name]);
      return undefined;
    },
    /** Removes and returns the newest item of the largest group. Of equally large groups, that whose turn comes last. */
    dropLargest: (): T | undefined => (root.size === 0 ? undefined : dropLargest(root)),
    /** Whether `dropLargest` would remove an item with this path if it were pushed now. */
    wouldDrop: (path: readonly string[]): boolean => wouldDrop(root, path),
    /** Removes an item that was pushed with this path. Returns false if it no longer waits. */
    remove: (path: readonly string[], item: T): boolean => remove(root, path, item),
  };
};

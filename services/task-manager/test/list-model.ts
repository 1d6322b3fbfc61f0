type Role = 'owner' | 'editor' | 'viewer';

/** An operation of the user `by` in a list; users, lists and invitations are numbers, tasks have their titles. */
export type Operation = { by: number; list: number } & (
  | { kind: 'give'; to: number; role: Role; serial: number }
  | { kind: 'remove'; to: number }
  /** With the secret of this invitation of `to`. */
  | { kind: 'join'; to: number; invitation: number | undefined }
  | { kind: 'create'; title: string; to: number | null }
  | { kind: 'assign'; title: string; to: number | null }
  | { kind: 'drop'; title: string }
  | { kind: 'end' }
);

interface Member {
  role: Role;
  joined: boolean;
  /** Number of the operation that invited. */
  invitation: number;
}

interface ListState {
  members: Record<number, Member>;
  tasks: Record<string, { assignee: number | null; version: number }>;
}

/** What docs/task-manager.md says of lists, without SQL. */
export type Model = ListState[];

/** One list for each of these users, who own it. */
export const startModel = (owners: readonly number[]): Model =>
  owners.map((owner) => ({
    members: { [owner]: { role: 'owner', joined: true, invitation: -1 } },
    tasks: {},
  }));

const isMember = ({ members }: ListState, user: number | null): boolean =>
  user !== null && members[user]?.joined === true;

const hasOwner = ({ members }: ListState): boolean =>
  Object.values(members).some(({ role, joined }) => joined && role === 'owner');

/** Changes members unless no owner would be left. */
const changeMembers = (list: ListState, change: (draft: ListState) => void): number => {
  const draft = structuredClone(list);
  change(draft);
  if (!hasOwner(draft)) return 409;
  Object.assign(list, draft);
  return 200;
};

const remove = ({ members, tasks }: ListState, user: number): void => {
  if (members[user]?.joined === true)
    for (const task of Object.values(tasks))
      if (task.assignee === user) Object.assign(task, { assignee: null, version: task.version + 1 });
  delete members[user];
};

/** Applies an operation; returns the status of the answer. */
export const apply = (model: Model, operation: Operation): number => {
  const { by } = operation;
  const list = model[operation.list] as ListState;
  const { members, tasks } = list;
  if (operation.kind === 'join') {
    const invited = members[operation.to];
    if (invited === undefined || operation.to !== by || invited.invitation !== operation.invitation)
      return 404;
    invited.joined = true;
    return 200;
  }
  if (!isMember(list, by)) return 404;
  const role = members[by]?.role;
  switch (operation.kind) {
    case 'give': {
      const { to, serial, role: given } = operation;
      if (members[to]?.role === given) return 200;
      if (role !== 'owner') return 403;
      const before = members[to] ?? { joined: false, invitation: serial };
      return changeMembers(list, (draft) => (draft.members[to] = { ...before, role: given }));
    }
    case 'remove': {
      const { to } = operation;
      if (members[to] === undefined) return 200;
      if (role !== 'owner' && to !== by) return 403;
      return changeMembers(list, (draft) => remove(draft, to));
    }
    case 'end':
      if (role !== 'owner') return 403;
      Object.assign(list, { members: {}, tasks: {} });
      return 204;
    case 'create':
      if (role === 'viewer') return 403;
      if (operation.to !== null && !isMember(list, operation.to)) return 400;
      tasks[operation.title] = { assignee: operation.to, version: 1 };
      return 201;
    default: {
      const task = tasks[operation.title];
      if (task === undefined) return 404;
      if (role === 'viewer') return 403;
      if (operation.kind === 'drop') {
        delete tasks[operation.title];
        return 204;
      }
      if (task.assignee === operation.to) return 200;
      if (operation.to !== null && !isMember(list, operation.to)) return 400;
      Object.assign(task, { assignee: operation.to, version: task.version + 1 });
      return 200;
    }
  }
};

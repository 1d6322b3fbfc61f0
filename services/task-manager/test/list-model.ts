type Role = 'owner' | 'editor' | 'viewer';

/** An operation of the user `by` in a list. Numbers identify users, lists and invitations; titles identify tasks. */
export type Operation = { by: number; list: number } & (
  | { kind: 'setRole'; to: number; role: Role; serial: number }
  | { kind: 'removeMember'; to: number }
  /** Uses the code of this invitation of `to`. */
  | { kind: 'acceptInvitation'; to: number; invitation: number | undefined }
  | { kind: 'createTask'; title: string; to: number | null }
  | { kind: 'assignTask'; title: string; to: number | null }
  | { kind: 'deleteTask'; title: string }
  | { kind: 'deleteList' }
);

interface Member {
  role: Role;
  joined: boolean;
  /** Serial number of the operation that invited the member. */
  invitation: number;
}

interface ListState {
  members: Record<number, Member>;
  tasks: Record<string, { assignee: number | null; version: number }>;
}

/** The rules for lists in docs/task-manager.md, implemented without SQL. */
export type Model = ListState[];

/** Creates one list per owner. */
export const startModel = (owners: readonly number[]): Model =>
  owners.map((owner) => ({
    members: { [owner]: { role: 'owner', joined: true, invitation: -1 } },
    tasks: {},
  }));

const isMember = ({ members }: ListState, user: number | null): boolean =>
  user !== null && members[user]?.joined === true;

const hasOwner = ({ members }: ListState): boolean =>
  Object.values(members).some(({ role, joined }) => joined && role === 'owner');

/** Changes members. Returns 409 and changes nothing if no owner would be left. */
const changeMembers = (list: ListState, change: (draft: ListState) => void): number => {
  const draft = structuredClone(list);
  change(draft);
  if (!hasOwner(draft)) return 409;
  Object.assign(list, draft);
  return 200;
};

const removeMember = ({ members, tasks }: ListState, user: number): void => {
  if (members[user]?.joined === true)
    for (const task of Object.values(tasks))
      if (task.assignee === user) Object.assign(task, { assignee: null, version: task.version + 1 });
  delete members[user];
};

/** Applies an operation and returns the expected HTTP status. */
export const apply = (model: Model, operation: Operation): number => {
  const { by } = operation;
  const list = model[operation.list] as ListState;
  const { members, tasks } = list;
  if (operation.kind === 'acceptInvitation') {
    const invited = members[operation.to];
    if (invited === undefined || operation.to !== by || invited.invitation !== operation.invitation)
      return 404;
    invited.joined = true;
    return 200;
  }
  if (!isMember(list, by)) return 404;
  const role = members[by]?.role;
  switch (operation.kind) {
    case 'setRole': {
      const { to, serial, role: newRole } = operation;
      if (members[to]?.role === newRole) return 200;
      if (role !== 'owner') return 403;
      const before = members[to] ?? { joined: false, invitation: serial };
      return changeMembers(list, (draft) => (draft.members[to] = { ...before, role: newRole }));
    }
    case 'removeMember': {
      const { to } = operation;
      if (members[to] === undefined) return 200;
      if (role !== 'owner' && to !== by) return 403;
      return changeMembers(list, (draft) => removeMember(draft, to));
    }
    case 'deleteList':
      if (role !== 'owner') return 403;
      Object.assign(list, { members: {}, tasks: {} });
      return 204;
    case 'createTask':
      if (role === 'viewer') return 403;
      if (operation.to !== null && !isMember(list, operation.to)) return 400;
      tasks[operation.title] = { assignee: operation.to, version: 1 };
      return 201;
    default: {
      const task = tasks[operation.title];
      if (task === undefined) return 404;
      if (role === 'viewer') return 403;
      if (operation.kind === 'deleteTask') {
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

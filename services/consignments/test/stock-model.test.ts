import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';
import { consignmentInput, inventoryInput } from './inputs.ts';

type Line = [item: number, quantity: number];

interface Item {
  id: string;
  quantity: number;
  reserved: number;
  /** The content of the movement with each reference. */
  moved: Map<number, string>;
}

interface Consignment {
  id: string;
  status: number;
  lines: Line[];
  /** Whether PATCH has moved its stock before. */
  hasMoved: boolean;
  isDeleted: boolean;
  /** Units by item. */
  reserved: number[];
  taken: number[];
}

type Action =
  | { kind: 'move'; item: number; quantity: number; reserved: number; reference: number }
  | { kind: 'change'; of: number; status?: number; lines?: Line[]; force: boolean }
  | { kind: 'delete'; of: number };

interface Step {
  action: Action;
  instance: number;
}

const [items, consignments] = [2, 4];
const line: fc.Arbitrary<Line> = fc.tuple(fc.nat(items - 1), fc.integer({ min: 1, max: 5 }));
const lines = fc.array(line, { maxLength: 3 });
const consignment = fc.nat(consignments - 1);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        kind: fc.constant('change' as const),
        of: consignment,
        status: fc.nat(8),
        lines,
        force: fc.boolean(),
      },
      { requiredKeys: ['kind', 'of', 'force', 'status'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      of: consignment,
      lines,
      force: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), of: consignment }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      item: fc.nat(items - 1),
      quantity: fc.integer({ min: -6, max: 6 }),
      reserved: fc.integer({ min: -3, max: 4 }).filter((units) => units !== 0),
      reference: fc.nat(5),
    }),
  },
);

const subjectOf = ({ action: step }: Step): string =>
  step.kind === 'move' ? `item ${step.item}` : `consignment ${step.of}`;

/** Steps that are sent at the same time, at most one per item and consignment, so that their order does not matter. */
const round = fc.uniqueArray(fc.record({ action, instance: fc.nat(1) }), {
  selector: subjectOf,
  minLength: 1,
  maxLength: 4,
});

const placeOf = (status: number): string =>
  status >= 1 && status <= 3 ? 'reserved' : (status >= 4 && status <= 6) || status === 8 ? 'taken' : 'free';

/** A copy of the transitions, so that a wrong table in the service fails the test. */
const followers = ['17', '2347', '347', '47', '568', '68', '', '', ''];

const unitsOf = (of: readonly Line[], place: boolean): number[] =>
  Array.from({ length: items }, (_, n) =>
    place ? of.reduce((sum, [item, quantity]) => sum + (item === n ? quantity : 0), 0) : 0,
  );

/** The consignment after a change, or why it is refused whatever the stock is. */
const changed = (before: Consignment, step: Extract<Action, { kind: 'change' }>): Consignment | 404 | 409 => {
  if (before.isDeleted) return 404;
  const { status = before.status, lines: after = before.lines, force } = step;
  const isAllowed = status === before.status || force || followers[before.status]?.includes(String(status));
  if (!isAllowed) return 409;
  const place = placeOf(status);
  const moves = placeOf(before.status) !== place;
  const hasMoved = before.hasMoved || moves;
  const follows = moves || (hasMoved && step.lines !== undefined);
  const holds = follows
    ? { reserved: unitsOf(after, place === 'reserved'), taken: unitsOf(after, place === 'taken') }
    : {};
  return { ...before, status, lines: after, hasMoved, ...holds };
};

const startModel = async (service: Service, statuses: readonly number[]) => {
  const stock: Item[] = [];
  for (let n = 0; n < items; n++) {
    const { body } = await service
      .post('/inventory', inventoryInput({ quantity: 12, reserved: 2 }))
      .expect(201);
    stock.push({ id: (body as { id: string }).id, quantity: 12, reserved: 2, moved: new Map() });
  }
  const all: Consignment[] = [];
  for (const status of statuses) {
    const { body } = await service.post('/consignments', consignmentInput({ status })).expect(201);
    const none = unitsOf([], false);
    const rest = { status, lines: [], hasMoved: false, isDeleted: false, reserved: none, taken: none };
    all.push({ id: (body as { id: string }).id, ...rest });
  }
  return { stock, all };
};

type Model = Awaited<ReturnType<typeof startModel>>;

const send = ({ stock, all }: Model, service: Service, step: Action) => {
  if (step.kind === 'move') {
    const { quantity, reserved, reference } = step;
    return service.post(`/inventory/${stock[step.item]?.id}/movements`, {
      quantity,
      reserved,
      reference: `R-${reference}`,
    });
  }
  const path = `/consignments/${all[step.of]?.id}`;
  if (step.kind === 'delete') return service.delete(path);
  return service.patch(path, {
    ...(step.status !== undefined && { status: step.status }),
    ...(step.lines && {
      lines: step.lines.map(([item, quantity]) => ({ productId: stock[item]?.id, quantity })),
    }),
    ...(step.force && { force: true, reason: 'model' }),
  });
};

/** The model after a step that the service accepts, or the status with which it is refused whatever the stock is. */
const after = ({ stock, all }: Model, step: Action): Model | number => {
  if (step.kind === 'move') {
    const item = stock[step.item] as Item;
    const content = `${step.quantity} ${step.reserved}`;
    const first = item.moved.get(step.reference);
    if (first !== undefined) return first === content ? { stock, all } : 409;
    const moved = new Map(item.moved).set(step.reference, content);
    const quantity = item.quantity + step.quantity;
    return {
      stock: stock.with(step.item, { ...item, quantity, reserved: item.reserved + step.reserved, moved }),
      all,
    };
  }
  const before = all[step.of] as Consignment;
  if (before.isDeleted) return 404;
  const next =
    step.kind === 'change'
      ? changed(before, step)
      : { ...before, isDeleted: true, reserved: unitsOf([], false) };
  if (typeof next === 'number') return next;
  const add = (item: Item, n: number): Item => {
    const reserved = (next.reserved[n] ?? 0) - (before.reserved[n] ?? 0);
    const taken = (next.taken[n] ?? 0) - (before.taken[n] ?? 0);
    return { ...item, reserved: item.reserved + reserved, quantity: item.quantity - taken };
  };
  return { stock: stock.map(add), all: all.with(step.of, next) };
};

/** Whether no item has less than what is reserved, and what is reserved includes what consignments hold. */
const isPossible = ({ stock, all }: Model): boolean =>
  stock.every(({ quantity, reserved }, n) => {
    const held = all.reduce((sum, each) => sum + (each.reserved[n] ?? 0), 0);
    return held <= reserved && reserved <= quantity;
  });

const stockOf = async (service: Service, { stock }: Model) => {
  const bodies = await Promise.all(stock.map(({ id }) => service.read(`/inventory/${id}`).expect(200)));
  return bodies.map(({ body }) => ({ quantity: body.quantity as number, reserved: body.reserved as number }));
};

/** Sends a round at once, and applies the accepted steps. The stock before a step is known only if it is sent alone. */
const play = async (model: Model, services: readonly Service[], steps: readonly Step[]): Promise<Model> => {
  const serviceOf = ({ instance }: Step) => services[instance] as Service;
  const answers = await Promise.all(steps.map((step) => send(model, serviceOf(step), step.action)));
  return steps.reduce((before, step, n) => {
    const [next, answer] = [after(before, step.action), answers[n]];
    const isAccepted = (answer?.status ?? 500) < 300;
    if (typeof next === 'number') {
      expect([step, answer?.status]).toEqual([step, next]);
      return before;
    }
    if (steps.length === 1) expect([step, isAccepted]).toEqual([step, isPossible(next)]);
    if (!isAccepted) expect([step, answer?.body.code]).toEqual([step, 'not_enough_stock']);
    return isAccepted ? next : before;
  }, model);
};

test('quantities and reservations are those of the model after any sequence over two instances', async () => {
  await using first = await startService();
  await using second = await startService({ databaseUrl: first.databaseUrl });
  const services = [first, second];
  const starts = fc.array(fc.nat(8), { minLength: consignments, maxLength: consignments });
  await fc.assert(
    fc.asyncProperty(starts, fc.array(round, { maxLength: 15 }), async (statuses, rounds) => {
      let model = await startModel(first, statuses);
      for (const steps of rounds) {
        model = await play(model, services, steps);
        const expected = model.stock.map(({ quantity, reserved }) => ({ quantity, reserved }));
        expect(isPossible(model)).toBe(true);
        for (const service of services) expect(await stockOf(service, model)).toEqual(expected);
      }
    }),
    { numRuns: 30 },
  );
}, 120_000);

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listed, makeQuest, question, startService, write } from './harness.ts';

/** An edit, with places as shares of the list's length so that any edit fits any list. */
type Edit =
  | { kind: 'add'; at: number | undefined }
  | { kind: 'move'; from: number; to: number }
  | { kind: 'remove'; from: number }
  | { kind: 'replace'; size: number };

const share = fc.double({ min: 0, max: 0.999, noNaN: true });
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('add'), at: fc.option(share, { nil: undefined }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('move'), from: share, to: share }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove'), from: share }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace'), size: fc.integer({ min: 0, max: 8 }) }) },
);

test('after any edits the list equals that of a plain array, and every page is a slice of it', async () => {
  await using one = await startService();
  let count = 0;
  const newId = () => `q${++count}`;

  const apply = async (questId: string, model: string[], edit: Edit): Promise<string[]> => {
    const path = `/quests/${questId}/questions`;
    const named = (questionId: string, more: object = {}) => question(questionId, { questionId, ...more });
    const place = (part: number, size: number) => Math.floor(part * size);
    if (edit.kind === 'replace') {
      const ids = Array.from({ length: edit.size }, newId);
      await write(
        one,
        'put',
        path,
        ids.map((id) => named(id)),
      ).expect(200);
      return ids;
    }
    if (edit.kind === 'add') {
      const id = newId();
      const at = edit.at === undefined ? undefined : place(edit.at, model.length + 1);
      await write(one, 'post', path, named(id, { orderNumber: at })).expect(201);
      return model.toSpliced(at ?? model.length, 0, id);
    }
    if (model.length === 0) return model;
    const from = place(edit.from, model.length);
    const id = model[from] ?? '';
    const rest = model.toSpliced(from, 1);
    if (edit.kind === 'remove') {
      await write(one, 'delete', `${path}/${id}`).expect(204);
      return rest;
    }
    const to = place(edit.to, model.length);
    await write(one, 'put', `${path}/${id}`, question(id, { orderNumber: to })).expect(200);
    return rest.toSpliced(to, 0, id);
  };

  const windows = fc.array(fc.tuple(fc.nat(14), fc.nat(14)), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(edit, windows), { maxLength: 12 }), async (steps) => {
      const questId = await makeQuest(one);
      let model: string[] = [];
      for (const [edit, pages] of steps) {
        model = await apply(questId, model, edit);
        for (const [skip, take] of pages) {
          const page = await listed(one, questId, `?Skip=${skip}&Take=${take}`);
          const expected = model.map((questionId, orderNumber) => ({ questionId, orderNumber }));
          const got = page.map(({ questionId, orderNumber }) => ({ questionId, orderNumber }));
          expect(got).toEqual(expected.slice(skip, skip + take));
        }
      }
    }),
    { numRuns: 40 },
  );
});

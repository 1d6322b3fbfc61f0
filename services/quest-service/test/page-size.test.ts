import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { readPage } from '../src/questions/queries.ts';
import { get, makeQuest, startService } from './harness.ts';

test('a page that is too large is measured without reading its texts', async () => {
  await using service = await startService();
  const questId = await makeQuest(
    service,
    Array.from({ length: 20 }, (_, n) => `${n}`),
  );
  const sql = postgres(service.databaseUrl, { max: 1 });
  // Random, so that PostgreSQL stores them beside the row, compressed or not.
  for (let n = 0; n < 20; n++)
    await sql`update questions set titles = to_json(${randomBytes(6000).toString('base64')}::text) where order_number = ${n}`;
  onTestFinished(() => sql.end());
  const textBlocks = async (): Promise<number | undefined> => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<{ blocks: number }[]>`
      select (toast_blks_hit + toast_blks_read)::int as blocks from pg_statio_user_tables where relname = 'questions'`;
    return row?.blocks;
  };
  const read = async (maxBytes: number) => {
    const before = await textBlocks();
    const page = await readPage(sql, { questId, published: true }, { offset: 0n, limit: 20 }, maxBytes);
    return { page, hasReadTexts: (await textBlocks()) !== before };
  };
  const refused = await read(100_000);
  expect(refused).toMatchObject({ page: { questions: undefined }, hasReadTexts: false });
  const whole = await read(1_000_000);
  expect(whole).toMatchObject({ page: { bytes: refused.page?.bytes }, hasReadTexts: true });
  // The size is that of the texts, and at most 80 bytes more for each question.
  const sent = (await get(service, `/quests/${questId}/questions`).expect(200)).text;
  const texts = whole.page?.questions?.reduce((sum, { content }) => sum + content.length, 0) ?? 0;
  expect(sent.length).toBeGreaterThan(texts);
  expect(refused.page?.bytes).toBeGreaterThanOrEqual(texts);
  expect(refused.page?.bytes).toBeLessThanOrEqual(texts + 20 * 80);
});

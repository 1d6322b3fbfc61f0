import postgres from 'postgres';
import type { BenchService } from '../service.ts';

/** A question of realistic size: two languages, five answers, about 1.1 kB. */
const question = (number: number) => {
  const titles = (text: string) => [
    { languageCode: 'en-US', title: `${text} of question number ${number}` },
    { languageCode: 'de-DE', title: `${text} der Frage Nummer ${number}` },
  ];
  return {
    questionId: `q${number}`,
    type: 'SINGLE_CHOICE',
    presentation: 'HORIZONTAL',
    titles: titles('The wording'),
    alternatives: Array.from({ length: 5 }, (_, place) => ({
      alternativeId: `q${number}-${place}`,
      titles: titles(`Answer ${place}`),
    })),
  };
};

/** Creates a quest with `size` questions and returns the path of its list. */
export const fillQuest = async ({ url, keys }: BenchService, size: number): Promise<string> => {
  const token = await keys.token({ scope: 'quests:write' });
  const write = async (method: string, path: string, body: unknown): Promise<unknown> => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  const { questId } = (await write('POST', '/v1/quests', { title: `${size} questions` })) as {
    questId: string;
  };
  const list = `/v1/quests/${questId}/questions`;
  await write(
    'PUT',
    list,
    Array.from({ length: size }, (_, number) => question(number)),
  );
  return list;
};

/** Fetches a page as bytes. */
export const pageOf = async ({ url }: BenchService, path: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(url + path)).arrayBuffer());

/** Updates the planner's statistics, as autovacuum would do later. */
export const analyse = async ({ databaseUrl }: BenchService): Promise<void> => {
  const sql = postgres(databaseUrl, { max: 1 });
  await sql`vacuum analyze`;
  await sql.end();
};

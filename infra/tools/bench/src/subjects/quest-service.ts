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

/** Creates a quest with `size` questions and returns the path of its list. Then vacuums, as autovacuum does later. */
export const fillQuest = async ({ url, keys, sql }: BenchService, size: number): Promise<string> => {
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
  const { questId } = (await write('POST', '/v1/quests', { title: 'A quest' })) as { questId: string };
  const list = `/v1/quests/${questId}/questions`;
  const questions = Array.from({ length: size }, (_, number) => question(number));
  await write('PUT', list, questions);
  await sql`vacuum analyze`;
  return list;
};

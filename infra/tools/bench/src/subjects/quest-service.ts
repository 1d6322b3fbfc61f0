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
    alternatives: Array.from({ length: 5 }, (_, index) => ({
      alternativeId: `q${number}-${index}`,
      titles: titles(`Answer ${index}`),
    })),
  };
};

/** Creates a quest with `size` questions, vacuums (as autovacuum would later) and returns the path of the questions. */
export const fillQuest = async ({ url, keys, sql }: BenchService, size: number): Promise<string> => {
  const token = await keys.token({ scope: 'quests:write' });
  const send = async (method: string, target: string, body: unknown): Promise<unknown> => {
    const response = await fetch(url + target, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  const { questId } = (await send('POST', '/v1/quests', { title: 'A quest' })) as { questId: string };
  const path = `/v1/quests/${questId}/questions`;
  const questions = Array.from({ length: size }, (_, number) => question(number));
  await send('PUT', path, questions);
  await sql`vacuum analyze`;
  return path;
};

import { randomUUID } from 'node:crypto';
import { apiKey, bearer, iterateChanges, unwrap, verifyProjects } from '@platform/client';
import { findDifferences, type Actor } from '../actor.ts';
import { callTimeout, persist } from '../wait.ts';

type Names = Map<string, string>;

/** Creates and renames projects as one client, and keeps a copy of all projects up to date as another. */
export const translator = (url: string, token: string, key: string): Actor => {
  const writer = verifyProjects(url, callTimeout, bearer(token));
  const reader = verifyProjects(url, callTimeout, apiKey(key));
  const acknowledged: Names = new Map();
  const copy: Names = new Map();
  let copiedUntil = '1970-01-01T00:00:00.000Z';

  const sync = async (): Promise<void> => {
    const changed = iterateChanges(
      'projects',
      (query) => reader.GET('/projects', { params: { query } }),
      copiedUntil,
    );
    for await (const { id, name, updated_at } of changed) {
      copy.set(id, name);
      copiedUntil = updated_at;
    }
  };

  return {
    name: 'translator',
    pace: 60,
    step: async () => {
      const name = `Project ${randomUUID()}`;
      const body = { name, source_language: 'en', target_languages: ['de'] };
      const { id } = await unwrap(writer.POST('/projects', { body }));
      acknowledged.set(id, name);
      const renamedId = [...acknowledged.keys()][Math.floor(acknowledged.size / 2)] ?? id;
      const newName = `Renamed ${randomUUID()}`;
      // The name is unknown until the change is acknowledged.
      acknowledged.delete(renamedId);
      const params = { path: { id: renamedId } };
      await persist(() => unwrap(writer.PATCH('/projects/{id}', { params, body: { name: newName } })));
      acknowledged.set(renamedId, newName);
      await sync();
    },
    verify: async () => {
      await sync();
      const list: Names = new Map();
      const all = iterateChanges('projects', (query) => reader.GET('/projects', { params: { query } }));
      for await (const { id, name } of all) list.set(id, name);
      return [
        ...findDifferences('translator: project', acknowledged, list),
        ...findDifferences('translator: the copy of', list, copy),
      ];
    },
  };
};

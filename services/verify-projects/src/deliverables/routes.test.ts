import request from 'supertest';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { minutesOff, projectInput, startService, type Service } from '../../test/harness.ts';
import { DeliverableList } from './schema.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const nobody = '0198c5a0-7e57-7000-8000-00000000ffff';
const input = { language: 'de', type: 'report', due_at: '2026-05-01T10:00:00+02:00' };

const createProject = async (): Promise<string> => {
  const { body } = await service.admin.post('/projects', projectInput()).expect(201);
  return body.id as string;
};

const updatedAtOf = async (id: string): Promise<string> => {
  const { body } = await service.read('/projects?limit=200').expect(200);
  return (
    (body.projects as { id: string; updated_at: string }[]).find((row) => row.id === id)?.updated_at ?? ''
  );
};

/** Waits until a change would get a later updated_at. */
const waitUntilAfter = (time: string) =>
  vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(time)), { interval: 1 });

describe('deliverables of a project', () => {
  test('are added, listed as one page, changed and deleted, and each change updates updated_at of the project', async () => {
    const project = await createProject();
    const list = `/projects/${project}/deliverables`;
    const times: string[] = [];
    const next = async () => {
      const time = await updatedAtOf(project);
      times.push(time);
      await waitUntilAfter(time);
    };
    await next();

    const added = await service.admin.post(list, input).expect(201);
    await next();
    const { id } = added.body as { id: string };
    expect(added.headers['location']).toBe(`/v1${list}/${id}`);
    expect((await service.admin.get(`${list}/${id}`).expect(200)).body).toEqual(added.body);
    expect(added.body).toEqual({
      id,
      project_id: project,
      name: null,
      language: 'de',
      type: 'report',
      status: 'pending',
      file_url: null,
      assignee: null,
      due_at: '2026-05-01T08:00:00.000Z',
      delivered_at: null,
      updated_at: times[1],
      version: 1,
    });
    const second = await service.admin.post(list, { ...input, due_at: null, status: 'accepted' }).expect(201);
    await next();

    const { body } = await service.read(list).expect(200);
    expect(DeliverableList.strict().parse(body)).toEqual(body);
    expect(body).toEqual({
      deliverables: [added.body, second.body],
      page: { number: 1, has_more: false, limit: 2 },
    });

    const changed = await service.admin
      .patch(`${list}/${id}`, { status: 'delivered', due_at: null })
      .expect(200);
    await next();
    expect(changed.body).toEqual({
      ...added.body,
      status: 'delivered',
      due_at: null,
      delivered_at: times[3],
      updated_at: times[3],
      version: 2,
    });

    await service.admin.delete(`${list}/${id}`).expect(204);
    await service.admin.get(`${list}/${id}`).expect(404);
    await next();
    expect((await service.read(list)).body.deliverables).toEqual([second.body]);
    expect(times).toEqual([...new Set(times)].toSorted());
  });

  test('have a name, a file and an assignee, which null clears', async () => {
    const list = `/projects/${await createProject()}/deliverables`;
    const fields = {
      name: 'Diploma of Ada',
      assignee: 'Mari',
      file_url: 'https://files.example.test/ada.pdf?signature=x%2Fy',
      delivered_at: '2026-04-30T10:00:00.000Z',
    };
    const { body } = await service.admin.post(list, { ...input, ...fields }).expect(201);
    expect(body).toMatchObject(fields);
    const cleared = Object.fromEntries(Object.keys(fields).map((name) => [name, null]));
    const changed = await service.admin.patch(`${list}/${body.id}`, cleared).expect(200);
    expect(changed.body).toMatchObject(cleared);
    expect((await service.read(list)).body.deliverables).toEqual([changed.body]);
  });

  test('get the time of the change as delivered_at when their status becomes delivered, unless the patch has a time', async () => {
    const list = `/projects/${await createProject()}/deliverables`;
    const deliveredAt = '2026-04-30T10:00:00.000Z';
    const created = (await service.admin.post(list, { ...input, status: 'delivered' }).expect(201)).body;
    expect(created.delivered_at).toBe(created.updated_at);
    const change = async (patch: object) =>
      (await service.admin.patch(`${list}/${created.id}`, patch).expect(200)).body;
    expect((await change({ status: 'rejected' })).delivered_at).toBe(created.delivered_at);
    expect((await change({ status: 'delivered', delivered_at: deliveredAt })).delivered_at).toBe(deliveredAt);
    expect((await change({ status: 'delivered', name: 'Renamed' })).delivered_at).toBe(deliveredAt);
    expect((await change({ status: 'accepted' })).delivered_at).toBe(deliveredAt);
    const again = await change({ status: 'delivered' });
    expect(again.delivered_at).toBe(again.updated_at);
    expect((await change({ delivered_at: null })).delivered_at).toBeNull();
  });

  test('are in a target language of their project, when it names any', async () => {
    const project = await createProject();
    const list = `/projects/${project}/deliverables`;
    const refusal = async (answer: ReturnType<typeof service.admin.patch>, language: string) => {
      const { body } = await answer.expect(422);
      expect([body.code, body.detail]).toEqual([
        'language_not_in_project',
        expect.stringContaining(` in ${language},`),
      ]);
    };
    const time = await updatedAtOf(project);
    await waitUntilAfter(time);
    await refusal(service.admin.post(list, { ...input, language: 'et' }), 'et');
    expect(await updatedAtOf(project)).toBe(time);
    const { body } = await service.admin.post(list, { ...input, language: 'DE' }).expect(201);
    await refusal(service.admin.patch(`${list}/${body.id}`, { language: 'et' }), 'et');
    await service.admin.patch(`${list}/${body.id}`, { language: 'fr' }).expect(200);
    await refusal(service.admin.patch(`/projects/${project}`, { target_languages: ['de', 'et'] }), 'fr');
    await service.admin.patch(`/projects/${project}`, { target_languages: [] }).expect(200);
    await service.admin.patch(`${list}/${body.id}`, { language: 'et' }).expect(200);
    await service.admin.patch(`/projects/${project}`, { target_languages: ['et'] }).expect(200);
  });

  test('that are refused are not stored, and their Idempotency-Key can be used again', async () => {
    const project = await createProject();
    const list = `/projects/${project}/deliverables`;
    const send = () =>
      service.admin.post(list, { ...input, language: 'et' }).set('Idempotency-Key', `refused ${project}`);
    await send().expect(422);
    expect((await service.read(list)).body.deliverables).toEqual([]);
    await service.admin.patch(`/projects/${project}`, { target_languages: ['et'] }).expect(200);
    await send().expect(201);
  });

  test('are counted correctly after fifty concurrent changes', async () => {
    const project = await createProject();
    const list = `/projects/${project}/deliverables`;
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () =>
        String((await service.admin.post(list, input).expect(201)).body.id),
      ),
    );
    await Promise.all(
      ids.map((id, n) => {
        const path = `${list}/${id}`;
        if (n % 5 === 0) return service.admin.delete(path).expect(204);
        return service.admin.patch(path, { status: n % 2 ? 'delivered' : 'accepted' }).expect(200);
      }),
    );
    const { body } = await service.read(`/projects/${project}`).expect(200);
    expect([body.version, body.deliverables_by_status]).toEqual([
      1,
      { pending: 0, in_progress: 0, delivered: 20, accepted: 20, rejected: 0 },
    ]);
  });

  test('and their project are unchanged when a change fails halfway', async () => {
    const { sql } = service.context.database;
    const project = await createProject();
    const list = `/projects/${project}/deliverables`;
    const { body } = await service.admin.post(list, { ...input, name: 'faulty' }).expect(201);
    const read = async () => [
      (await service.read(`/projects/${project}`)).body as object,
      (await service.read(list)).body as object,
    ];
    const before = await read();
    await waitUntilAfter(body.updated_at);
    await sql.unsafe(`
      create function fail() returns trigger language plpgsql as $$ begin raise exception 'disk on fire'; end $$;
      create trigger fail after update on deliverables for each row when (old.name = 'faulty') execute function fail()`);
    await service.admin.patch(`${list}/${body.id}`, { status: 'delivered' }).expect(500);
    expect(await read()).toEqual(before);
    await sql.unsafe('drop trigger fail on deliverables; drop function fail');
    await service.admin.patch(`${list}/${body.id}`, { status: 'delivered' }).expect(200);
  });

  test('never get a language that is removed from the target languages at the same time', async () => {
    const faults: string[] = [];
    for (let n = 0; n < 10; n++) {
      const project = await createProject();
      const answers = await Promise.all([
        service.admin.post(`/projects/${project}/deliverables`, input),
        service.admin.patch(`/projects/${project}`, { target_languages: ['fr'] }),
      ]);
      const statuses = answers.map(({ status }) => status).join();
      if (!['201,422', '422,200'].includes(statuses)) faults.push(statuses);
    }
    expect(faults).toEqual([]);
  });

  test('are an empty page if there are none; an unknown project is 404', async () => {
    const project = await createProject();
    const { body } = await service.read(`/projects/${project}/deliverables`).expect(200);
    expect(body).toEqual({ deliverables: [], page: { number: 1, has_more: false, limit: 0 } });
    const unknown = await service.read(`/projects/${nobody}/deliverables`).expect(404);
    expect(unknown.body).toMatchObject({ code: 'not_found', detail: 'There is no such project.' });
    await service.admin.post(`/projects/${nobody}/deliverables`, input).expect(404);
  });

  test('return 404 and leave updated_at of the project if they do not exist or belong to another project', async () => {
    const [project, other] = [await createProject(), await createProject()];
    const { body } = await service.admin.post(`/projects/${other}/deliverables`, input).expect(201);
    const times = [await updatedAtOf(project), await updatedAtOf(other)];
    await waitUntilAfter(times[1] ?? '');
    for (const id of [nobody, body.id]) {
      await service.admin
        .patch(`/projects/${project}/deliverables/${id}`, { status: 'rejected' })
        .expect(404);
      await service.admin.delete(`/projects/${project}/deliverables/${id}`).expect(404);
    }
    expect([await updatedAtOf(project), await updatedAtOf(other)]).toEqual(times);
  });

  test('are 1,000 at most in a project', async () => {
    const [project, other] = [await createProject(), await createProject()];
    await service.context.database.sql`
      insert into deliverables (project_id, id, language, type, status, updated_at)
      select ${project}, uuidv7(), 'de', 'report', 'pending', now() from generate_series(1, 999)`;
    const list = `/projects/${project}/deliverables`;
    const { body } = await service.admin.post(list, input).expect(201);
    const time = await updatedAtOf(project);
    await waitUntilAfter(time);
    expect((await service.admin.post(list, input).expect(409)).body.code).toBe('too_many_deliverables');
    expect(await updatedAtOf(project)).toBe(time);
    await service.admin.post(`/projects/${other}/deliverables`, input).expect(201);
    await service.admin.delete(`${list}/${body.id}`).expect(204);
    await service.admin.post(list, input).expect(201);
  });

  test('are deleted with their project', async () => {
    const project = await createProject();
    const { body } = await service.admin.post(`/projects/${project}/deliverables`, input).expect(201);
    await service.admin.delete(`/projects/${project}?force=true`).expect(204);
    await service.read(`/projects/${project}/deliverables`).expect(404);
    const gone = await service.admin.patch(`/projects/${project}/deliverables/${body.id}`, {
      type: 'evidence',
    });
    expect(gone.status).toBe(404);
  });

  test('have a list without query parameters', async () => {
    const project = await createProject();
    const { body } = await service.read(`/projects/${project}/deliverables?limit=1&page=1`).expect(400);
    expect(Object.keys(body.errors).toSorted()).toEqual(['limit', 'page']);
  });

  test.for([
    ['type', { ...input, type: 'letter' }],
    ['status', { ...input, status: 'done' }],
    ['language', { ...input, language: 'x' }],
    ['due_at', { ...input, due_at: '2026-05-01T10:00:00' }],
    ['due_at', { ...input, due_at: 1_777_000_000 }],
    ['delivered_at', { ...input, delivered_at: '2026-05-01T10:00:00' }],
    ['name', { ...input, name: '' }],
    ['name', { ...input, name: 'a\0b' }],
    ['assignee', { ...input, assignee: 'x'.repeat(201) }],
    ['assignee', { ...input, assignee: '\0' }],
    ['file_url', { ...input, file_url: 'http://files.example.test/1.pdf' }],
    ['file_url', { ...input, file_url: 'javascript:alert(1)' }],
    ['file_url', { ...input, file_url: 'https://ann:secret@files.example.test/1.pdf' }],
    ['file_url', { ...input, file_url: 'https://files.example.test/a\0.pdf' }],
    ['file_url', { ...input, file_url: `https://files.example.test/${'x'.repeat(2000)}` }],
    ['file_url', { ...input, file_url: '/1.pdf' }],
    ['version', { ...input, version: 2 }],
    ['project_id', { ...input, project_id: nobody }],
  ] as const)('return 400 for a wrong %s', async ([field, wrong]) => {
    const { body } = await service.admin.post(`/projects/${nobody}/deliverables`, wrong).expect(400);
    expect(Object.keys(body.errors)).toEqual([field]);
  });

  test('are all stored when they are changed at the same time', async () => {
    const project = await createProject();
    const list = `/projects/${project}/deliverables`;
    const made = await Promise.all(Array.from({ length: 20 }, () => service.admin.post(list, input)));
    await Promise.all(
      made.map(({ body }, n) =>
        service.admin.patch(`${list}/${made[n % 5]?.body.id ?? body.id}`, { status: 'accepted' }).expect(200),
      ),
    );
    const { body } = await service.read(list).expect(200);
    const accepted = (body.deliverables as { status: string }[]).filter(
      ({ status }) => status === 'accepted',
    );
    expect([body.page.limit, accepted.length]).toEqual([20, 5]);
    const latest = (body.deliverables as { updated_at: string }[])
      .map(({ updated_at }) => updated_at)
      .toSorted()
      .at(-1);
    expect(await updatedAtOf(project)).toBe(latest);
  });
});

test.for([40, -40])(
  'deliverables are ordered by the clock of the database, not of an instance that is %i days off',
  async (days) => {
    const list = `/projects/${await createProject()}/deliverables`;
    const first = await service.admin.post(list, input).expect(201);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    const { app } = await service.startInstance();
    const token = await service.tokens.token({ scope: 'verify:admin' });
    const wrong = request(app).post(`/v1${list}`).set('Authorization', `Bearer ${token}`);
    const second = await wrong.send(input).expect(201);
    vi.useRealTimers();
    const third = await service.admin.post(list, input).expect(201);
    const { body } = await service.read(list).expect(200);
    expect(body.deliverables).toEqual([first.body, second.body, third.body]);
    expect(minutesOff(second.body.id)).toBeLessThan(10);
  },
);

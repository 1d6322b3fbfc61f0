import { expect, test } from 'vitest';
import { addExamples } from '../src/http/document-examples.ts';

const json = (schema: object, example?: unknown) => ({
  content: { 'application/json': { schema, ...(example !== undefined && { example }) } },
});
const text = { type: 'string' };
const note = {
  type: 'object',
  properties: {
    id: text,
    title: text,
    status: { type: 'string', enum: ['open', 'closed'] },
    at: { type: 'string', format: 'date-time' },
    reminder: { type: 'string', format: 'date-time', nullable: true },
    tags: { type: 'array', items: text },
    answers: { type: 'array', items: { $ref: '#/components/schemas/Note' } },
    author: text,
  },
};

const problem = { status: 404, title: 'Not Found', detail: 'The note' };
const notFound = () => ({
  description: 'The note',
  content: { 'application/problem+json': { schema: {}, examples: { not_found: { value: problem } } } },
});

const documentOf = (title: unknown) => ({
  paths: {
    '/notes/{noteId}': {
      put: {
        operationId: 'putNote',
        tags: ['Notes'],
        parameters: [
          { name: 'noteId', in: 'path', required: true, example: 'note-1', schema: text },
          { name: 'If-Match', in: 'header', schema: text },
        ],
        requestBody: json({ type: 'object' }, { title, tags: ['home'] }),
        responses: {
          200: { description: '', ...json({ $ref: '#/components/schemas/Note' }) },
          404: notFound(),
        },
      },
      get: {
        operationId: 'getNote',
        tags: ['Notes'],
        parameters: [
          { name: 'day', in: 'query', required: true, schema: { type: 'string', format: 'date' } },
        ],
        responses: {
          200: {
            description: '',
            content: { 'application/x-ndjson': { schema: text, 'x-itemSchema': note } },
          },
          404: notFound(),
        },
      },
    },
  },
  components: { schemas: { Note: note } },
});

const example = {
  id: 'note-1',
  title: 'Tea',
  status: 'open',
  at: '2026-01-31T09:30:00.000Z',
  reminder: null,
  tags: ['home'],
  answers: [],
  author: 'Ada',
};

test('a response example has the values of the request, and those of the service for other fields', () => {
  const { paths } = addExamples(documentOf('Tea'), { author: 'Ada' });
  const { put, get } = paths['/notes/{noteId}'];
  expect(put.responses[200].content['application/json']).toMatchObject({ example });
  expect(get.responses[200].content['application/x-ndjson']).toMatchObject({
    example: expect.stringMatching(/^\{"id":"note-1","title":"Tea".*\}\n$/),
  });
});

test('a value with the same name that the schema does not allow is not used', () => {
  const { paths } = addExamples(documentOf(7), { author: 'Ada' });
  const { put } = paths['/notes/{noteId}'];
  expect(put.responses[200].content['application/json']).toMatchObject({ example: { title: 'text' } });
});

test('parameters have examples next to their schemas, and operations share the examples of problems', () => {
  const { paths, components } = addExamples(documentOf('Tea'));
  const { put, get } = paths['/notes/{noteId}'];
  expect(put.parameters[1]).toMatchObject({ name: 'If-Match', example: '*' });
  expect(get.parameters[0]).toMatchObject({ name: 'day', example: '2026-01-31' });
  const reference = { examples: { '404-1': { $ref: '#/components/examples/404-1' } } };
  for (const { responses } of [put, get])
    expect(responses[404].content['application/problem+json']).toMatchObject(reference);
  expect(components).toMatchObject({ examples: { '404-1': { value: problem } } });
});

test('a parameter may have an example for one operation, which other examples do not use', () => {
  const { paths } = addExamples(documentOf('Tea'), {
    'getNote.day': '2026-02-01',
    'putNote.noteId': 'note-2',
  });
  const { get, put } = paths['/notes/{noteId}'];
  expect(get.parameters[0]).toMatchObject({ example: '2026-02-01' });
  expect(put.parameters[0]).toMatchObject({ example: 'note-2' });
  expect(JSON.stringify(put.responses)).not.toContain('note-2');
});

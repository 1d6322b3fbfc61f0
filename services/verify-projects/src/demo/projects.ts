import type { deliverables as deliverableTable, projects as projectTable } from '../db/tables.ts';
import { languages } from './languages.ts';

const subjects = [
  'Diplomas of the medical faculty',
  'Birth certificates of a family',
  'Annual accounts of a foundation',
  'Court files of an appeal',
  'Patents of a pump',
  'Instructions of an infusion set',
  'Contracts of a ferry line',
  'School reports of an exchange',
  'Licences of crane drivers',
  'Minutes of a works council',
];
/** The client whose projects the demo partner's key can read. */
export const client = 'University of Tartu';
const clients = [client, 'Tamm family', 'Baltic Ferries', 'Works council of Nordpump', null];
const people = ['Mari', 'João', 'Aino', null];
const statuses = ['draft', 'active', 'in_review', 'completed', 'archived'] as const;
const types = ['report', 'certificate', 'transcript', 'translation', 'evidence'] as const;
const states = ['pending', 'in_progress', 'delivered', 'accepted', 'rejected'] as const;

const pick = <T>(entries: readonly T[], n: number): T => entries[n % entries.length] as T;

/** The id of record `n` of a table: the same on every machine and after every start. */
const idOf = (table: number, n: number): string =>
  `0198c5a0-7e57-7${table.toString(16).padStart(3, '0')}-8000-${String(n).padStart(12, '0')}`;

const first = Date.UTC(2026, 0, 5, 8);
const hour = 3_600_000;

const instant = (hours: number): string => new Date(first + hours * hour).toISOString();

const projectOf = (n: number): typeof projectTable.$inferInsert => {
  const status = pick(statuses, n * 3 + Math.floor(n / 7));
  const updated_at = instant(n * 5 + 200);
  const source = pick(languages, n * 7).code;
  const targets = [1, 2, 3].slice(n % 3).map((step) => pick(languages, n * 7 + step * 11).code);
  return {
    id: idOf(0, n),
    name: `${pick(subjects, n)}, part ${Math.floor(n / subjects.length) + 1}`,
    client: pick(clients, n),
    status,
    source_language: source,
    target_languages: targets,
    due_at: n % 4 === 0 ? null : instant(n * 5 + 1500),
    created_at: instant(n),
    updated_at,
    archived_at: status === 'archived' ? updated_at : null,
  };
};

/** 200 projects, one changed every five hours. */
export const projects = Array.from({ length: 200 }, (_, n) => projectOf(n));

/** One deliverable for each target language of a project. */
export const deliverables: (typeof deliverableTable.$inferInsert)[] = projects.flatMap((project, n) =>
  project.target_languages.map((language, index) => {
    const status = pick(states, n * 2 + index);
    const isFinished = ['delivered', 'accepted', 'rejected'].includes(status);
    const id = idOf(index + 1, n);
    return {
      project_id: project.id,
      id,
      name: `${project.name} (${language})`,
      language,
      type: pick(types, n + index),
      status,
      file_url: isFinished ? `https://files.example.test/${id}.pdf` : null,
      assignee: pick(people, n + index),
      due_at: index === 0 ? null : instant(n * 5 + 1000 + index * 24),
      delivered_at: isFinished ? project.updated_at : null,
      updated_at: project.updated_at,
    };
  }),
);

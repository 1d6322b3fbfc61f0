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
const statuses = ['draft', 'active', 'in_review', 'completed', 'archived'] as const;
const types = ['report', 'certificate', 'transcript', 'translation', 'evidence'] as const;
const states = ['pending', 'in_progress', 'delivered', 'accepted', 'rejected'] as const;

const pick = <T>(all: readonly T[], n: number): T => all[n % all.length] as T;

/** The same on every machine and after every start. */
const idOf = (kind: number, n: number): string =>
  `0198c5a0-7e57-7${kind.toString(16).padStart(3, '0')}-8000-${String(n).padStart(12, '0')}`;

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
    status,
    source_language: source,
    target_languages: targets,
    created_at: instant(n),
    updated_at,
    archived_at: status === 'archived' ? updated_at : null,
  };
};

/** 200 projects, one changed every five hours. */
export const projects = Array.from({ length: 200 }, (_, n) => projectOf(n));

/** One deliverable for each target language of a project. */
export const deliverables: (typeof deliverableTable.$inferInsert)[] = projects.flatMap((project, n) =>
  project.target_languages.map((language, place) => ({
    project_id: project.id,
    id: idOf(place + 1, n),
    language,
    type: pick(types, n + place),
    status: pick(states, n * 2 + place),
    due_at: place === 0 ? null : instant(n * 5 + 1000 + place * 24),
    updated_at: project.updated_at,
  })),
);

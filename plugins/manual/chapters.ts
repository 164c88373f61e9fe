/**
 * Page of the manual: its name in the address and its file; the page of settings is generated from
 * declarations.
 */
export interface Chapter {
  readonly name: string;
  readonly title: string;
  readonly file?: string;
  /** True for a page that few people ask for: a search prefers the others. */
  readonly aside?: true;
}

export interface Part {
  readonly title: string;
  readonly chapters: readonly Chapter[];
}

const doc = (name: string, title: string): Chapter => ({ name, title, file: `docs/${name}.md` });
const aside = true;

/** Parts of the manual in reading order: first steps, tasks, explanations, reference, extensions. */
export const parts: readonly Part[] = [
  {
    title: 'Begin',
    chapters: [
      { name: 'start', title: 'What svc is', file: 'README.md' },
      doc('first-hour', 'The first hour'),
      doc('glossary', 'Concepts and glossary'),
    ],
  },
  {
    title: 'Run it',
    chapters: [
      doc('install', 'Install'),
      doc('upgrading', 'Back up, upgrade, roll back'),
      doc('postgres', 'Postgres'),
      doc('two-nodes', 'Two machines'),
      doc('config-files', 'Configuration'),
      doc('roles', 'Users, roles, organizations'),
      doc('host-policy', 'What the agent may do on a host'),
    ],
  },
  {
    title: 'Use it',
    chapters: [
      doc('console', 'The console'),
      doc('alerts', 'Alerts'),
      doc('agents', 'Agents and knowledge'),
      doc('telemetry', 'Metrics, logs and traces'),
      doc('integrations', 'E-mail, chat, Grafana, models'),
    ],
  },
  {
    title: 'Understand it',
    chapters: [
      doc('scope', 'What svc does and does not do'),
      doc('promises', 'Promises and limits'),
      doc('sizing', 'Sizing'),
      doc('scale', 'Where one svc ends'),
      doc('investigation', 'How investigations work'),
      { name: 'security', title: 'Security', file: 'SECURITY.md' },
    ],
  },
  {
    title: 'Look it up',
    chapters: [
      doc('commands', 'Commands'),
      { name: 'settings', title: 'Settings' },
      { name: 'changes', title: 'Changes', file: 'CHANGELOG.md', aside },
    ],
  },
  {
    title: 'Extend it',
    chapters: [
      doc('plugins', 'Plugins'),
      doc('packs', 'Packs'),
      { ...doc('architecture', 'Architecture'), aside },
      { ...doc('api-report', 'The contract of plugins'), aside },
      { ...doc('dependencies', 'Dependencies'), aside },
      { name: 'contributing', title: 'Contributing', file: 'CONTRIBUTING.md', aside },
    ],
  },
];

export const chapters: readonly Chapter[] = parts.flatMap((part) => part.chapters);

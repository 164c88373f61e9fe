/** A page of the manual: its name in the address and the file it is made of; the page of settings is made of what is declared. */
export interface Chapter {
  readonly name: string;
  readonly title: string;
  readonly file?: string;
}

export interface Part {
  readonly title: string;
  readonly chapters: readonly Chapter[];
}

const doc = (name: string, title: string): Chapter => ({ name, title, file: `docs/${name}.md` });

/** Parts of the manual in reading order: for operators, users and developers. */
export const parts: readonly Part[] = [
  {
    title: 'Begin',
    chapters: [
      { name: 'start', title: 'What it is, and the first minute', file: 'README.md' },
      doc('serving', 'Install and reach it'),
      doc('concepts', 'Concepts in pictures'),
    ],
  },
  {
    title: 'Operate',
    chapters: [
      doc('console-use', 'The console'),
      doc('roles', 'Users, roles, organizations'),
      doc('alerts', 'Alerts of your own'),
      doc('alert-sources', 'Alerts of others'),
      doc('back-ends', 'Stores elsewhere'),
      doc('config-files', 'Configuration in files'),
      doc('sizing', 'How large a box'),
      doc('upgrading', 'Upgrade and downgrade'),
    ],
  },
  {
    title: 'Ask and act',
    chapters: [
      doc('agents', 'Agents'),
      doc('investigation', 'Investigations'),
      doc('knowledge', 'Knowledge'),
      doc('chat-platforms', 'Chat platforms'),
      doc('marketplace', 'The marketplace'),
    ],
  },
  {
    title: 'Look up',
    chapters: [
      doc('commands', 'Commands'),
      { name: 'settings', title: 'Settings' },
      { name: 'security', title: 'Security', file: 'SECURITY.md' },
      doc('promises', 'What is promised, and what is not'),
      { name: 'changes', title: 'Changes', file: 'CHANGELOG.md' },
    ],
  },
  {
    title: 'Build',
    chapters: [
      doc('plugins', 'Plugins'),
      doc('packs', 'Packs'),
      doc('console', 'Pages of the console'),
      doc('architecture', 'Architecture'),
      doc('api-report', 'The contract of plugins'),
      doc('dependencies', 'Dependencies'),
      { name: 'contributing', title: 'Contributing', file: 'CONTRIBUTING.md' },
    ],
  },
];

export const chapters: readonly Chapter[] = parts.flatMap((part) => part.chapters);

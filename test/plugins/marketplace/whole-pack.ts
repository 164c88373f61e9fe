import { manifest, personaText, skillText, type Texts } from './market.ts';

const route = (path: string, access = 'any') => ({
  method: 'GET',
  path: `/api/v1/whole${path}`,
  access,
  summary: 'For a test.',
});

/** A pack with everything that a pack can have; it asks `port` of this machine. */
export const wholePack = (version: string, port: number): Texts => ({
  'plugin.json': manifest('whole', {
    version,
    entry: 'index.js',
    mounts: ['/api/v1/whole'],
    routes: [route(''), route('/look', 'whole:look'), route('/die')],
    events: ['setting.changed'],
    actions: { 'whole:look': 'Look at it.' },
    skills: [
      {
        key: 'whole-large',
        name: 'Large',
        description: 'Says much.',
        class: 'safe',
        params: { type: 'object' },
      },
      {
        key: 'whole-change',
        name: 'Change',
        description: 'Changes.',
        class: 'mutating',
        params: { type: 'object' },
      },
    ],
    settings: {
      'whole.plain': { schema: { type: 'string' }, default: '', description: 'A word.' },
      'whole.secret': {
        schema: { type: 'string' },
        default: '',
        sensitive: true,
        description: 'A key.',
      },
    },
    permissions: { hosts: [`127.0.0.1:${port}`], disk_mb: 16 },
    contributes: {
      'cli.verbs': {
        'whole show': {
          summary: 'Shows it',
          method: 'GET',
          path: '/api/v1/whole',
          example: 'svc whole show',
          fields: [{ header: 'STATUS', text: '{status}' }],
        },
      },
    },
  }),
  'migrations/001-notes.sql':
    'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;',
  'agents/whole-clerk.md': personaText('whole-clerk', 'tools: [whole-large]\n'),
  'skills/whole-guide/SKILL.md': skillText('whole-guide', `Version ${version}.`),
  'dashboards/whole.json': JSON.stringify({
    uid: 'whole',
    title: 'Whole',
    panels: [{ title: 'Up', type: 'stat', query: 'up' }],
  }),
  'index.js': `import { definePack } from 'svc/sdk';
    const note = 'insert into notes (text) values (?)';
    export default definePack({
      routes: {
        'GET /api/v1/whole': async (_call, { db, fetch, settings }) => {
          await db.run(note, 'called');
          const { status } = await fetch('http://127.0.0.1:${port}/');
          return { status, notes: await db.all('select text from notes'), secret: settings.get('whole.secret') };
        },
        'GET /api/v1/whole/look': () => ({ seen: true }),
        'GET /api/v1/whole/die': () => process.exit(3),
      },
      events: { 'setting.changed': async (_event, { db }) => void (await db.run(note, 'told')) },
      skills: { 'whole-large': () => 'word '.repeat(200000), 'whole-change': () => ({ changed: true }) },
    });`,
});

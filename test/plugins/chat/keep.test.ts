import 'reflect-metadata';

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Principal } from 'svc/sdk';

import { type AgentHouse, agentHouse } from './house.ts';

let house: AgentHouse;
const notes: (readonly [number, string, string | undefined])[] = [];
const documents: { readonly path: string; readonly title: string; readonly content: string }[] = [];
const started: number[] = [];
const ends: (() => Promise<void>)[] = [];

before(async () => {
  house = await agentHouse(
    { after: (end) => void ends.push(end as () => Promise<void>) },
    {
      rules: [
        { when: { last: 'say nothing' }, reply: { text: '' } },
        { when: { last: 'answer was empty' }, reply: { text: '' } },
        { reply: { text: 'The disk is full.' } },
      ],
      services: {
        'alert.deeds': {
          note: async (id: number, text: string, { principal }: { principal: Principal }) => {
            notes.push([id, text, principal.name]);
            return { status: 'open' };
          },
        },
        'knowledge.write': {
          write: async (draft: (typeof documents)[number]) => {
            documents.push(draft);
            return { document_id: 5, path: draft.path };
          },
        },
        'investigate.start': {
          start: async (incident: number) => {
            started.push(incident);
            return { id: 8 };
          },
        },
      },
    },
  );
});

after(async () => {
  for (const end of ends.toReversed()) {
    await end();
  }
});

const at = (path = ''): string => `/chat/sessions/${house.session}${path}`;

test('an answer is kept as a note, a document or an investigation, by what its reader may do', async () => {
  await house.send('What fills\nthe disk?');
  const save = (who: Parameters<AgentHouse['ask']>[0], body: object) =>
    house.ask(who, 'POST', at('/save'), body);
  assert.match((await save('anna', { as: 'note' })).body.message, /specify one with incident_id/);
  const note = await save('anna', { as: 'note', incident_id: 3 });
  assert.deepEqual(
    [note.status, note.body.incident_id, note.body.document_id],
    [201, 3, null],
    JSON.stringify(note.body),
  );
  assert.deepEqual(notes, [[3, 'Answer of the agent sre:\n\nThe disk is full.', 'anna']]);
  const document = { as: 'document', path: 'notes/disk.md' };
  assert.match(
    (await save('anna', document)).body.message,
    /requires the permission knowledge:create/,
  );
  house.people.anna.grants = [...house.people.anna.grants, 'knowledge:create'];
  assert.equal((await save('anna', document)).body.path, 'notes/disk.md');
  assert.deepEqual(
    documents.map(({ title, content }) => [title, content]),
    [['What fills the disk?', '# What fills the disk?\n\nThe disk is full.\n']],
  );
  const looked = await save('anna', { as: 'investigation', incident_id: 3 });
  assert.deepEqual([looked.body.investigation_id, started, notes.length], [8, [3], 2]);
  assert.equal((await save('token of anna', { as: 'note', incident_id: 3 })).status, 404);
  assert.equal((await save('vera', { as: 'note', incident_id: 3 })).status, 404);
  assert.equal((await save('anna', { as: 'note', incident_id: 3, message_id: 1 })).status, 404);
});

test('a link opens for colleagues who see as much, until it is revoked', async () => {
  const { body: share } = await house.ask('anna', 'POST', at('/share'), {});
  assert.match(share.link, new RegExp(`/ui/chat/shared/${share.share_id}$`));
  const open = (who: Parameters<AgentHouse['ask']>[0]) =>
    house.ask(who, 'GET', `/chat/shared/${share.share_id}`);
  const { status, body } = await open('vera');
  assert.deepEqual(
    [status, body.question, body.answer.content, body.share.shared_by],
    [200, 'What fills\nthe disk?', 'The disk is full.', 'anna'],
  );
  // Who sees some devices only does not open what was asked about all.
  house.people.vera.selectors = ['team=web'];
  assert.equal((await open('vera')).status, 404);
  delete house.people.vera.selectors;
  const again = await house.ask('anna', 'POST', at('/share'), {});
  assert.equal(again.body.share_id, share.share_id);
  assert.equal((await house.ask('vera', 'POST', at('/share'), {})).status, 404);
  assert.equal((await house.ask('vera', 'DELETE', `/chat/shared/${share.share_id}`)).status, 404);
  assert.equal((await house.ask('anna', 'DELETE', `/chat/shared/${share.share_id}`)).status, 204);
  assert.equal((await open('vera')).status, 404);
});

test('without a message, the last answer that says something is kept and shared', async () => {
  await house.send('say nothing');
  const { body: list } = await house.ask('anna', 'GET', at('/messages'));
  const said = list.items
    .filter(({ role }: { role: string }) => role === 'assistant')
    .toSorted((a: { id: number }, b: { id: number }) => a.id - b.id);
  assert.equal(said.at(-1).content, '', 'the last answer is empty');
  const count = notes.length;
  const kept = await house.ask('anna', 'POST', at('/save'), { as: 'note', incident_id: 3 });
  assert.equal(kept.status, 201, JSON.stringify(kept.body));
  assert.match(notes[count]![1], /The disk is full\.$/);
  const share = await house.ask('anna', 'POST', at('/share'), {});
  const { body } = await house.ask('vera', 'GET', `/chat/shared/${share.body.share_id}`);
  assert.equal(body.answer.content, 'The disk is full.');
  for (const path of ['/save', '/share']) {
    const empty = {
      message_id: said.at(-1).id,
      ...(path === '/save' && { as: 'note', incident_id: 3 }),
    };
    assert.match((await house.ask('anna', 'POST', at(path), empty)).body.message, /is empty/, path);
  }
});

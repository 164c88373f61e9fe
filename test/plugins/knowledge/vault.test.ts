import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';

import { projectRoot } from '../../house/source.ts';
import { type Json, type KnowledgeHouse, knowledgeHouse } from './house.ts';

interface Question {
  readonly question: string;
  /** Paths below vault/, and how right each is. */
  readonly answers: Readonly<Record<string, number>>;
  /** True for questions that were not used for tuning the ranking. */
  readonly held_back: boolean;
}

/** A data folder whose product ships these playbooks. */
function shipping(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): { dataDir: string; ship(name: string, text: string | undefined): void } {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-vault-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const ship = (name: string, text: string | undefined): void => {
    const file = join(dataDir, 'no-product', 'vault', name);
    mkdirSync(join(file, '..'), { recursive: true });
    if (text === undefined) {
      rmSync(file);
    } else {
      writeFileSync(file, text);
    }
  };
  Object.entries(files).forEach(([name, text]) => ship(name, text));
  return { dataDir, ship };
}

async function seeded({ ask }: KnowledgeHouse, documents: number): Promise<void> {
  while ((await ask('GET', '/docs?source=vault&limit=1')).body.total < documents) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Waits for the first index: on a busy box, searches are refused until then. */
async function indexed({ ask }: KnowledgeHouse): Promise<void> {
  while ((await ask('GET', '/search?q=disk&mode=lexical')).status === 503) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe('the vault', () => {
  test('is there after the first start, follows the product, and leaves what people made their own', async (t) => {
    const { dataDir, ship } = shipping(t, {
      'hosts/disk.md': '---\ntitle: Disk is full\ntags: [disk, host]\n---\n\n## Symptom\n\nfull',
      'hosts/load.md': '---\ntitle: Load is high\n---\nload',
      'hosts/odd.md': '---\ntitle: *alias\n---\nodd header',
    });
    const house = await knowledgeHouse(t, { dataDir });
    const { ask } = house;
    await seeded(house, 3);
    const { body: list } = await ask('GET', '/docs?path_prefix=vault');
    assert.deepEqual(
      list.items.map(({ path, title, tags, source, created_by }: Json) => [
        path,
        title,
        tags,
        source,
        created_by,
      ]),
      [
        ['vault/hosts/disk.md', 'Disk is full', ['disk', 'host'], 'vault', 'the vault'],
        ['vault/hosts/load.md', 'Load is high', [], 'vault', 'the vault'],
        ['vault/hosts/odd.md', 'odd', [], 'vault', 'the vault'],
      ],
    );
    const [disk, load] = list.items;
    const refused = await ask('PATCH', `/docs/${disk.id}`, { body: { content: 'mine' } });
    assert.deepEqual(
      [refused.status, refused.headers.get('x-svc-reason')],
      [409, 'knowledge.of_vault'],
    );
    assert.equal((await ask('DELETE', `/docs/${disk.id}`)).status, 409);
    assert.equal(
      (await ask('PATCH', `/docs/${disk.id}/move`, { body: { path: 'x.md' } })).status,
      409,
    );
    const adopted = await ask('PATCH', `/docs/${disk.id}`, {
      body: { content: '## Ours', adopt: true },
    });
    assert.deepEqual(
      [adopted.status, adopted.body.source, adopted.body.version],
      [200, 'manual', 2],
    );

    ship('hosts/disk.md', 'a newer one');
    ship('hosts/load.md', '---\ntitle: Load is high\n---\nload, newer');
    ship('hosts/odd.md', undefined);
    ship('hosts/new.md', '# New');
    const synced = await ask('POST', '/vault/sync');
    assert.deepEqual(synced.body, {
      added: 1,
      updated: 1,
      unchanged: 0,
      removed: 1,
      kept: [{ path: 'vault/hosts/disk.md', doc_id: disk.id }],
    });
    assert.equal((await ask('GET', `/docs/${disk.id}`)).body.content, '## Ours');
    const newer = (await ask('GET', `/docs/${load.id}`)).body;
    assert.deepEqual(
      [newer.version, newer.content],
      [2, '---\ntitle: Load is high\n---\nload, newer'],
    );
    assert.deepEqual((await ask('POST', '/vault/sync')).body, {
      added: 0,
      updated: 0,
      unchanged: 2,
      removed: 0,
      kept: [{ path: 'vault/hosts/disk.md', doc_id: disk.id }],
    });
  });

  test('answers the questions of operators', async (t) => {
    const { dataDir } = shipping(t, {});
    cpSync(join(projectRoot, 'vault'), join(dataDir, 'no-product', 'vault'), { recursive: true });
    const house = await knowledgeHouse(t, { dataDir });
    const questions = JSON.parse(
      readFileSync(join(projectRoot, 'test/fixtures/knowledge/questions.json'), 'utf8'),
    ) as readonly Question[];
    await house.ask('POST', '/vault/sync');
    await indexed(house);
    const fits = async (question: string): Promise<boolean> =>
      (await house.ask('GET', `/search?q=${encodeURIComponent(question)}`)).body.fits;
    let doubted = 0;
    for (const { question } of questions) {
      doubted += (await fits(question)) ? 0 : 1;
    }
    let unfit = 0;
    for (const question of withoutPlaybook) {
      unfit += (await fits(question)) ? 0 : 1;
    }
    t.diagnostic(
      `said to fit nothing: ${doubted} of ${questions.length} with a playbook, ${unfit} of ${withoutPlaybook.length} without`,
    );
    assert.ok(doubted <= 0.06 * questions.length, 'few questions with a playbook');
    assert.ok(unfit >= 0.6 * withoutPlaybook.length, 'most questions without one');
    const scored: {
      readonly gain: number;
      readonly isFound: boolean;
      readonly held: boolean;
      readonly line: string;
    }[] = [];
    for (const { question, answers, held_back: held } of questions) {
      const found = (await house.paths(question, '&limit=10&mode=lexical')).map((path) =>
        path.slice('vault/'.length),
      );
      const best = Math.max(...Object.values(answers));
      scored.push({
        gain: discounted(found, answers),
        isFound: found.slice(0, 3).some((path) => answers[path] === best),
        held,
        line: question,
      });
    }
    const figures = (part: typeof scored) => ({
      questions: part.length,
      gain: part.reduce((sum, { gain }) => sum + gain, 0) / part.length,
      first3: part.filter(({ isFound }) => isFound).length / part.length,
    });
    // Written after all tuning; nothing was changed for them.
    const fresh = JSON.parse(
      readFileSync(join(projectRoot, 'test/fixtures/knowledge/fresh-questions.json'), 'utf8'),
    ) as readonly { readonly question: string; readonly answers: readonly string[] }[];
    const missed: string[] = [];
    for (const { question, answers } of fresh) {
      const found = await house.paths(question, '&limit=3&mode=lexical');
      if (!answers.some((path) => found.includes(`vault/${path}`))) {
        missed.push(`${question}: ${found.join(', ')}`);
      }
    }
    t.diagnostic(
      `never seen: ${fresh.length - missed.length} of ${fresh.length} in the first three; not: ${missed.join(' | ')}`,
    );
    assert.ok(missed.length <= 0.1 * fresh.length, missed.join('\n'));
    const [all, held] = [figures(scored), figures(scored.filter((one) => one.held))];
    for (const [name, { questions: count, gain, first3 }] of Object.entries({
      all,
      'held back': held,
    })) {
      t.diagnostic(
        `${name}: ${count} questions, nDCG@10 ${gain.toFixed(3)}, right one in the first three ${(first3 * 100).toFixed(1)} %`,
      );
    }
    assert.ok(all.questions >= 150);
    assert.ok(all.gain >= 0.8 && held.gain >= 0.8, 'nDCG@10 is at least 0.80');
    assert.ok(
      all.first3 >= 0.95 && held.first3 >= 0.95,
      'the right playbook is among the first three for 95 of 100 questions',
    );
  });
});

/** Questions about what no playbook is about. */
const withoutPlaybook: readonly string[] = [
  'hana tenant catalog lost its savepoint',
  'voip phones are not registered at the asterisk',
  'printer prints blank pages since monday',
  'wifi access point loses clients every hour',
  'calendar delegation missing in outlook',
  'solr core reload hangs',
  'citrix session freezes while typing',
  'bitcoin node has no peers',
  'sharepoint crawl shows nothing',
  'jira workflow transition is missing',
  'camera stream shows no picture',
  'tape library robot arm error',
];

/** Returns the quality of an order relative to the best one, from 0 to 1. */
function discounted(found: readonly string[], answers: Question['answers']): number {
  const sum = (grades: readonly number[]): number =>
    grades
      .slice(0, 10)
      .reduce((total, grade, index) => total + (2 ** grade - 1) / Math.log2(index + 2), 0);
  return (
    sum(found.map((path) => answers[path] ?? 0)) /
    sum(Object.values(answers).toSorted((a, b) => b - a))
  );
}

import { writeSync } from 'node:fs';

import { startTestHost } from 'svc/testing';

const [dataDir] = process.argv.slice(2) as [string];
const house = await startTestHost({ after() {} }, { plugins: ['knowledge', 'programs'], dataDir });
const writers = 4;
const word = (writer: number, turn: number): string => `w${process.pid}x${writer}x${turn}`;

/** Writes, changes and uploads without an end; tells the parent what was acknowledged. */
async function write(writer: number): Promise<never> {
  for (let turn = 0; ; turn++) {
    const mark = word(writer, turn);
    const path = `crash/${mark}.md`;
    const content = `# ${mark}\n\n${`text of ${mark} `.repeat(40)}\n\n## Second\n\n${mark}end`;
    let answer: Response;
    if (turn % 3 === 2) {
      const form = new FormData();
      form.set('file', new Blob([content]), 'x.md');
      form.set('path', path);
      answer = await house.fetch('/api/v1/knowledge/upload', { method: 'POST', body: form });
    } else {
      answer = await house.fetch('/api/v1/knowledge/docs', {
        method: 'POST',
        body: JSON.stringify({ path, content }),
      });
    }
    if (answer.status !== 201) {
      throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
    }
    const { id } = (await answer.json()) as { id: number };
    writeSync(1, `${JSON.stringify({ id, mark })}\n`);
    if (turn % 4 === 3) {
      await house.fetch('/api/v1/knowledge/index/rebuild', { method: 'POST' });
    }
  }
}

await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));

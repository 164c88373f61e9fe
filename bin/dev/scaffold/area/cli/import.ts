import { readFile } from 'node:fs/promises';

import { clientOptions, type Command, openClient } from 'svc/cli';

export const command: Command = {
  operands: ['<file>'],
  options: clientOptions,
  about: 'Adds an entry for each line that is not blank.',
  example: 'svc plugin-id import notes.txt',

  async run(call, shell) {
    const text = await readFile(call.operand(0), 'utf8');
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const client = await openClient(call, shell);
    await shell.progress('Adding entries', async () => {
      for (const line of lines) {
        await client.post('/api/v1/plugin-id', { text: line });
      }
    });
    return { data: { added: lines.length }, text: () => `Entries added: ${lines.length}` };
  },
};

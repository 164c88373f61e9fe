import { writeSync } from 'node:fs';

import { ModelRuns } from 'svc/contracts/model';
import { startTestHost } from 'svc/testing';

import { requestOf, user } from '../plugins/model/stand.ts';

const [dataDir, modelUrl] = process.argv.slice(2) as [string, string];
const environment = {
  SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
  SVC_LLM_COMPATIBLE_BASE_URL: modelUrl,
  SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
};
const house = await startTestHost({ after() {} }, { plugins: ['model'], dataDir, environment });
const models = house.service(ModelRuns);
const callers = 6;

/**
 * Makes one call after another, reporting each finished one to the parent, until the process is
 * killed.
 */
async function call(caller: number): Promise<never> {
  for (let turn = 0; ; turn++) {
    const budget = {
      run: `${process.pid}-${caller}-${turn}`,
      session: `s${caller}`,
      persona: 'sre',
    };
    const messages = [user(`${turn % 3 === 0 ? 'slow' : 'quick'} ${'x'.repeat(turn % 50)}`)];
    for await (const part of models.stream(requestOf({ budget, messages }))) {
      if (part.type === 'end') {
        writeSync(1, `${part.usage.input_tokens + part.usage.output_tokens}\n`);
      }
    }
  }
}

await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));

import { once } from 'node:events';
import { readFileSync } from 'node:fs';

import { messageOf } from 'svc/sdk';
import { type Call, type Command, usageFailure, printable } from 'svc/cli';
import { FakeModel } from './fake-model/fake-model.ts';
import { isMisbehaviour, type Misbehaviour, misbehaviours } from './fake-model/misbehaviour.ts';
import { type Rule, rulesOf } from './fake-model/script.ts';

export const command: Command = {
  operands: [],
  options: {
    port: { value: 'n', about: 'port on 127.0.0.1; default 11500' },
    script: {
      value: 'file',
      about:
        'JSON file: {"rules": [{"when": {turn, last, tools, system, model}, "reply": {text, tool_calls, finish_reason, usage, error, misbehave}, "times"}]}; the first matching rule gives the reply',
    },
    misbehave: {
      value: 'names',
      about: `comma-separated list of: ${Object.keys(misbehaviours).join(', ')}`,
    },
  },
  about:
    'Runs a scripted OpenAI-compatible model, so that you can try and test svc without an API key. To use it, start svc on this machine with SVC_OUTBOUND_ALLOW_PRIVATE=127.0.0.1 SVC_LLM_COMPATIBLE_BASE_URL=http://127.0.0.1:11500/v1 SVC_LLM_DEFAULT_MODEL=compatible/demo, or with the corresponding settings. Without --script, it follows "call NAME {…}" in a message. It rejects requests that strict providers reject, counts four bytes as one token, and shows the requests that it received at /recorded.',
  example: 'svc fake-model --misbehave slow,split-utf8',

  async run(call) {
    const model = await FakeModel.start({
      port: portOf(call),
      misbehave: faultsOf(call),
      ...rulesFrom(call.value('script')),
    });
    process.stderr.write(
      `${call.json ? JSON.stringify({ url: model.url }) : `The scripted model is ready at ${model.url}; Ctrl-C stops it`}\n`,
    );
    // What started it beside itself, as a demo does, takes it along, however that ends.
    const over = new AbortController();
    const ends = ['SIGINT', 'SIGTERM', 'disconnect'];
    await Promise.race(ends.map((end) => once(process, end, { signal: over.signal })));
    // Whoever still listened for the channel would keep this process.
    over.abort();
    const { usage } = model;
    await model.close();
    return {
      data: usage,
      text: () =>
        printable(
          `${usage.requests} answers, ${usage.prompt_tokens} tokens read, ${usage.completion_tokens} written`,
        ),
    };
  },
};

function portOf(call: Call): number {
  const port = Number(call.value('port') ?? 11_500);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw usageFailure('--port must be a whole number from 0 to 65535');
  }
  return port;
}

function faultsOf(call: Call): readonly Misbehaviour[] {
  const names = (call.value('misbehave') ?? '').split(',').filter((name) => name !== '');
  return names.map((name) => {
    if (!isMisbehaviour(name)) {
      throw usageFailure(
        `there is no misbehaviour "${name}"; available: ${Object.keys(misbehaviours).join(', ')}`,
      );
    }
    return name;
  });
}

function rulesFrom(file: string | undefined): { readonly rules?: readonly Rule[] } {
  try {
    return file === undefined ? {} : { rules: rulesOf(readFileSync(file, 'utf8')) };
  } catch (error) {
    throw usageFailure(`--script ${file}: ${messageOf(error)}`);
  }
}

import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

import { Failure, usageFailure } from './failure.ts';

/** Answers of a person at a terminal, or one line each of what a script pipes in. */
export interface Questions {
  readonly atTerminal: boolean;
  ask(what: string): Promise<string>;
  /**
   * Asks without echo. Passwords are entered only this way: arguments can be read by every user of
   * a machine.
   */
  askHidden(what: string): Promise<string>;
  /** All lines that are left of what is piped in, such as a certificate; a line at a terminal. */
  askWhole(what: string): Promise<string>;
}

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Stream for prompts; not standard output, which may be redirected to a file. */
  readonly output: NodeJS.WritableStream;
}

const mostPiped = 65_536;

export function openQuestions(
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Questions {
  if (input.isTTY === true) {
    return {
      atTerminal: true,
      ask: (what) => typed(`${what}: `, input, output),
      askWhole: (what) => typed(`${what}: `, input, output),
      async askHidden(what) {
        output.write(`${what}: `);
        try {
          return await typed(
            '',
            input,
            new Writable({ write: (_chunk, _encoding, done) => done() }),
          );
        } finally {
          output.write('\n');
        }
      },
    };
  }
  let lines: string[] | undefined;
  const next = async (what: string): Promise<string> => {
    lines ??= await linesOf(input);
    return lines.shift() ?? nothingPiped(what);
  };
  const whole = async (what: string): Promise<string> =>
    [await next(what), ...lines!.splice(0)].join('\n');
  return { atTerminal: false, ask: next, askHidden: next, askWhole: whole };
}

function typed(
  prompt: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const line = createInterface({ input, output, terminal: true, historySize: 0 });
    line.once('SIGINT', () => line.close());
    line.once('close', () =>
      reject(new Failure(1, 'invalid_argument', 'no input, so nothing was done')),
    );
    line.question(prompt, (answer) => {
      resolve(answer);
      line.close();
    });
  });
}

async function linesOf(input: NodeJS.ReadableStream): Promise<string[]> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > mostPiped) {
      throw usageFailure('standard input is longer than 64 KiB: pipe in only the value');
    }
  }
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function nothingPiped(what: string): never {
  throw usageFailure(
    `standard input has no line for "${what}": pipe it in, or type it in a terminal`,
  );
}

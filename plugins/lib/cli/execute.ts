import { globalOptions, readArguments } from './arguments.ts';
import type { Call, Command, Environment, Result } from './command.ts';
import { asFailure, type ExitCode, type Failure, usageFailure } from './failure.ts';
import { printable } from './layout.ts';
import { paintFor } from './paint.ts';

/** Command to run: its name, and the remaining arguments. */
export interface Chosen {
  readonly name: string;
  readonly command: Pick<Command, 'operands' | 'options'>;
  readonly run: (call: Call) => Promise<Result>;
  readonly rest: readonly string[];
  /** Returns what `--help` shows. */
  readonly page: () => Promise<Result>;
}

/** Runs what `choose` finds in the arguments, prints what came of it, and resolves with the exit code. */
export async function execute(
  args: readonly string[],
  environment: Environment,
  choose: () => Promise<Chosen>,
): Promise<ExitCode> {
  try {
    const { data, text, code = 0 } = await call(await choose(), environment);
    print(
      wantsJson(args) && data !== undefined
        ? document(data)
        : text(paintFor(process.stdout, environment)),
    );
    return code;
  } catch (error) {
    const failure = asFailure(error);
    complain(failure, wantsJson(args), environment);
    return failure.exitCode;
  }
}

async function call({ name, command, rest, run, page }: Chosen, environment: Environment) {
  const { operands, options } = readArguments(rest, { ...command.options, ...globalOptions });
  if (options.has('help')) {
    return await page();
  }
  checkOperands(name, command.operands, operands);
  const data = options.get('data');
  return await run({
    operand: (index) => operands[index]!,
    optionalOperand: (index) => operands[index],
    has: (option) => options.has(option),
    value: (option) => options.get(option) as string | undefined,
    json: options.has('json'),
    environment: typeof data === 'string' ? { ...environment, SVC_DATA_DIR: data } : environment,
  });
}

function checkOperands(name: string, declared: readonly string[], given: readonly string[]): void {
  const missing = declared[given.length];
  if (missing?.startsWith('<')) {
    throw usageFailure(`"svc ${name}" needs ${missing}; "svc help ${name}" shows an example`);
  }
  const surplus = given[declared.length];
  if (surplus !== undefined && !declared.at(-1)?.endsWith('…]')) {
    throw usageFailure(
      `unexpected argument "${surplus}" for "svc ${name}"; "svc help ${name}" shows an example`,
    );
  }
}

/** Seen before anything is read, so that a misspelt command, too, fails in the form that was asked for. */
const wantsJson = (args: readonly string[]): boolean =>
  args.slice(0, args.includes('--') ? args.indexOf('--') : undefined).includes('--json');

const document = (data: unknown): string => JSON.stringify(data, undefined, 2);

function print(text: string): void {
  // A reader such as `head` may have seen enough and left: that is its right, not our failure.
  process.stdout.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      throw error;
    }
  });
  if (text !== '') {
    process.stdout.write(`${text}\n`);
  }
}

function complain(
  { code, message, details, cause }: Failure,
  json: boolean,
  environment: Environment,
): void {
  if (json) {
    print(document({ error: code, message, ...(details !== undefined && { details }) }));
    return;
  }
  const paint = paintFor(process.stderr, environment);
  process.stderr.write(`${paint.bad('svc:')} ${printable(message)}\n`);
  if (environment['SVC_LOG_LEVEL'] === 'debug' && cause instanceof Error) {
    process.stderr.write(`${paint.faint(cause.stack ?? '')}\n`);
  }
}

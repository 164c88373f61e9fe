import { isAbsolute } from 'node:path';

import type { Generation } from '../registry/index.ts';
import { type ProgramHandle, type ProgramOptions, type RunOptions, type RunResult, SvcError } from '../sdk/index.ts';
import type { HostPorts } from './ports.ts';

const usualStopMs = 10_000;
/** Beyond its time to end, for a program that has to be killed. */
const killMs = 6_000;

/** A foreign program that belongs to one generation: it starts at commit, or at once after that, and leaves with the scope. */
export function startProgram({ manifest, pluginId, scope }: Generation, ports: HostPorts, name: string, file: string, options: ProgramOptions): ProgramHandle {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) {
    throw new SvcError('invalid_argument', `${pluginId} names a program "${name}"; use lower-case letters, digits and dashes`);
  }
  requireAbsolute(pluginId, file);
  const program = ports.launchProgram({ manifest, name, file, options });
  const leave = scope.occupy(() => `program ${name}: ${program.state}${program.cause === undefined ? '' : ` (${program.cause})`}`, {
    begin: () => program.begin(),
    end: () => program.stop(),
    endMs: (options.stopMs ?? usualStopMs) + killMs,
  });
  return Object.freeze({
    get state() {
      return program.state;
    },
    get pid() {
      return program.pid;
    },
    get port() {
      return program.port;
    },
    get startedAt() {
      return program.startedAt;
    },
    get cause() {
      return program.cause;
    },
    ready: program.ready.bind(program),
    stop: async () => await leave(),
  } satisfies ProgramHandle);
}

/** A foreign program that runs once; when the generation leaves, it is killed. */
export function runProgram({ pluginId, scope }: Generation, ports: HostPorts, file: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  requireAbsolute(pluginId, file);
  return ports.runProgram({ pluginId, file, args, options, until: scope.signal });
}

function requireAbsolute(pluginId: string, file: string): void {
  if (!isAbsolute(file)) {
    throw new SvcError('invalid_argument', `${pluginId} runs "${file}", which is no absolute path; find it with ctx.processes.find`);
  }
}

/** Content of /proc/PID/stat: times in hundredths of a second, memory as given there. */
export interface ProcessStat {
  readonly pid: number;
  readonly name: string;
  /** One letter: R, S, D, Z, … */
  readonly state: string;
  readonly ppid: number;
  readonly minorFaults: number;
  readonly majorFaults: number;
  readonly userTime: number;
  readonly systemTime: number;
  readonly threads: number;
  /** Start time since boot; together with the pid it identifies a process permanently. */
  readonly startTime: number;
  readonly virtualBytes: number;
  readonly residentPages: number;
}

const fewest = 22;

/** The name may hold blanks and parentheses, and whatever its owner likes: what counts is the last closing one. */
export function parseProcessStat(text: string): ProcessStat | undefined {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const fields =
    close === -1
      ? []
      : text
          .slice(close + 2)
          .trimEnd()
          .split(' ');
  const pid = Number.parseInt(text, 10);
  if (open === -1 || fields.length < fewest || !Number.isSafeInteger(pid)) {
    return undefined;
  }
  const at = (field: number): number => Number(fields[field - 3]);
  return {
    pid,
    name: text.slice(open + 1, close),
    state: fields[0]!,
    ppid: at(4),
    minorFaults: at(10),
    majorFaults: at(12),
    userTime: at(14),
    systemTime: at(15),
    threads: at(20),
    startTime: at(22),
    virtualBytes: at(23),
    residentPages: at(24),
  };
}

/**
 * Returns whether a process is a kernel thread: those descend from the second process, which is
 * one.
 */
export const isKernelThread = ({ pid, ppid }: ProcessStat): boolean => pid === 2 || ppid === 2;

/**
 * Returns whether two readings of one pid belong to the same process, and not to another that
 * reused the pid.
 */
export const isSame = (a: ProcessStat, b: ProcessStat): boolean =>
  a.pid === b.pid && a.startTime === b.startTime;

// Loaded into svc before its own program: notes the CPU time at each step of the start that svc marks, and writes it down at the end.
import { writeFileSync } from 'node:fs';

const prefix = 'boot: ';
const marks = [];
const { mark } = performance;

performance.mark = (name, options) => {
  if (name.startsWith(prefix)) {
    const { user, system } = process.cpuUsage();
    marks.push({
      step: name.slice(prefix.length),
      atMs: performance.now(),
      cpuMs: (user + system) / 1_000,
    });
  }
  return mark.call(performance, name, options);
};
process.on('exit', () => writeFileSync(process.env.BOOT_MARKS, JSON.stringify(marks)));

import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { EdgeSkills } from 'svc/contracts/edge-skills';
import { EdgeMethods, LocalPolicy } from 'svc/contracts/edge-uplink';
import { Programs } from 'svc/contracts/programs';
import { type After, MachineFiles, ProcessWatch, SlowCalls } from 'svc/probe';
import { definePlugin } from 'svc/sdk';

import { errors } from './errors.ts';
import { AllowedPaths } from './reach/allowed-paths.ts';
import { errors as reachErrors } from './reach/errors.ts';
import { MachinePrograms } from './reach/machine-programs.ts';
import { ProbeRules } from './reach/probe-rules.ts';
import { SkillLog } from './skill-log.ts';
import { SkillRunner } from './skill-runner.ts';
import { diskUsage } from './skills/disk-usage.ts';
import { dnsProbe } from './skills/dns-probe.ts';
import { errors as skillsErrors } from './skills/errors.ts';
import { fileStat } from './skills/file-stat.ts';
import { fileTail } from './skills/file-tail.ts';
import { httpProbe } from './skills/http-probe.ts';
import { journal } from './skills/journal.ts';
import { largeFiles } from './skills/large-files.ts';
import { networkNamespaces } from './skills/network-namespaces.ts';
import { ping } from './skills/ping.ts';
import { processes } from './skills/processes.ts';
import { serviceRestart } from './skills/service-restart.ts';
import { sockets } from './skills/sockets.ts';
import { tcpProbe } from './skills/tcp-probe.ts';

/**
 * Limits for calls to an unresponsive disk: so many of the runtime's few threads may wait for it.
 */
const slow = { slots: 2, deadlineMs: 3_000 } as const;

export default definePlugin({
  errors: [errors, reachErrors, skillsErrors],
  activate(ctx) {
    const { clock, log } = ctx;
    const policy = ctx.services.use(LocalPolicy);
    const files = new MachineFiles();
    const after: After = (ms, work) => ctx.scope.timeout('a skill at work', ms, work);
    const rest = (): Promise<void> => new Promise((done) => void after(0, done));
    const disk = new SlowCalls({ ...slow, after });
    // The keys of this edge, and the files next to them.
    const paths = new AllowedPaths({
      policy,
      slow: disk,
      files,
      closed: [realpathSync(resolve(ctx.dataDir, '../..'))],
    });
    const rules = new ProbeRules(policy);
    const programs = new MachinePrograms(ctx, ctx.services.maybe(Programs));

    const own = [
      processes(new ProcessWatch({ files, clock, after })),
      diskUsage(paths, disk),
      largeFiles(paths, disk),
      fileStat(paths, files),
      fileTail(paths),
      journal(programs, paths),
      dnsProbe(rules, clock),
      tcpProbe(rules, clock, after),
      httpProbe(rules, clock),
      ping(programs, rules),
      sockets(files, rest),
      networkNamespaces(files, rest),
      serviceRestart(programs, policy),
    ];
    const skills = ctx.extend.open(EdgeSkills);
    own.forEach((skill) => ctx.extend.contribute(EdgeSkills, skill.key, skill));

    const runner = new SkillRunner({
      policy,
      clock,
      after,
      log,
      journal: new SkillLog(join(ctx.dataDir, 'skills.log')),
      skills: () => skills.list().map(({ value }) => value),
    });
    const methods = [
      { name: 'skill_list', mutating: false, run: async () => runner.list() },
      {
        name: 'skill_execute',
        mutating: false,
        run: async (order: unknown, { signal }: { signal: AbortSignal }) =>
          runner.execute(order, false, signal),
      },
      {
        name: 'skill_change',
        mutating: true,
        run: async (order: unknown, { signal }: { signal: AbortSignal }) =>
          runner.execute(order, true, signal),
      },
    ];
    methods.forEach((method) => ctx.extend.contribute(EdgeMethods, method.name, method));
  },
});

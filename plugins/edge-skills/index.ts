import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { EdgeSkills } from 'svc/contracts/edge-skills';
import { EdgeMethods, LocalPolicy } from 'svc/contracts/edge-uplink';
import { Programs } from 'svc/contracts/programs';
import { type After, MachineFiles, ProcessWatch, SlowCalls } from 'svc/probe';
import { definePlugin } from 'svc/sdk';

import { checkProbe } from './checks/check-probe.ts';
import { checkDiscover } from './discovery/check-discover.ts';
import { errors } from './errors.ts';
import { allowedChromium } from './reach/allowed-chromium.ts';
import { AllowedCommands } from './reach/allowed-commands.ts';
import { AllowedPaths } from './reach/allowed-paths.ts';
import { AllowedViews } from './reach/allowed-views.ts';
import { errors as reachErrors } from './reach/errors.ts';
import { MachinePrograms } from './reach/machine-programs.ts';
import { ProbeRules } from './reach/probe-rules.ts';
import { SkillLog } from './skill-log.ts';
import { SkillRunner } from './skill-runner.ts';
import { ContainerEngine } from './skills/containers/container-engine.ts';
import { containerSkills } from './skills/containers/containers.ts';
import { databaseView } from './skills/databases/database-view.ts';
import { errors as skillsErrors } from './skills/errors.ts';
import { diskUsage } from './skills/files/disk-usage.ts';
import { fileStat } from './skills/files/file-stat.ts';
import { fileTail } from './skills/files/file-tail.ts';
import { gitLog, gitShow } from './skills/files/git-history.ts';
import { largeFiles } from './skills/files/large-files.ts';
import { kubernetesSkills } from './skills/kubernetes/kubernetes.ts';
import { cronList } from './skills/machine/cron.ts';
import { journal } from './skills/machine/journal.ts';
import { kernelLog } from './skills/machine/kernel-log.ts';
import { logins } from './skills/machine/logins.ts';
import { packagesHistory, packagesList, packagesPending } from './skills/machine/packages.ts';
import { processes } from './skills/machine/processes.ts';
import { serviceRestart } from './skills/machine/service-restart.ts';
import { unitGet, unitsList } from './skills/machine/units.ts';
import { dnsProbe } from './skills/network/dns-probe.ts';
import { httpProbe } from './skills/network/http-probe.ts';
import { networkNamespaces } from './skills/network/network-namespaces.ts';
import { ping } from './skills/network/ping.ts';
import { sockets } from './skills/network/sockets.ts';
import { tcpProbe } from './skills/network/tcp-probe.ts';
import { tlsProbe } from './skills/network/tls-probe.ts';
import { traceroute } from './skills/network/traceroute.ts';

/**
 * Limits for calls to an unresponsive disk: so many of the runtime's few threads may wait for it.
 */
const slow = { slots: 2, deadlineMs: 3_000 } as const;

export default definePlugin({
  errors: [errors, reachErrors, skillsErrors],
  activate(ctx) {
    const { clock, ids, log } = ctx;
    const policy = ctx.services.use(LocalPolicy);
    const files = new MachineFiles();
    const after: After = (ms, work) => ctx.scope.timeout('a skill at work', ms, work);
    const rest = (): Promise<void> => new Promise((done) => void after(0, done));
    const disk = new SlowCalls({ ...slow, after });
    // The keys of this edge, and the files next to them.
    const closed = [realpathSync(resolve(ctx.dataDir, '../..'))];
    const paths = new AllowedPaths({ policy, slow: disk, files, list: 'paths', closed });
    const measured = new AllowedPaths({ policy, slow: disk, files, list: 'measure', closed });
    const views = new AllowedViews(policy);
    const rules = new ProbeRules(policy);
    const programs = new MachinePrograms(ctx, ctx.services.maybe(Programs));
    const commands = new AllowedCommands(policy, programs);
    const chromium = allowedChromium(ctx, policy, programs, after);
    chromium.tidy();

    const own = [
      processes(new ProcessWatch({ files, clock, after })),
      diskUsage(measured, disk),
      largeFiles(measured, disk),
      fileStat(measured, files),
      fileTail(paths),
      journal(programs, paths),
      dnsProbe(rules, clock),
      tcpProbe(rules, clock, after),
      httpProbe(rules, clock),
      ping(programs, rules),
      sockets(files, rest),
      networkNamespaces(files, rest),
      serviceRestart(programs, policy),
      unitsList(programs, views),
      unitGet(programs, views, paths),
      kernelLog(programs, views, files),
      cronList(files, views),
      logins(programs, views),
      packagesList({ programs, views, files }),
      packagesPending({ programs, views, files }),
      packagesHistory({ programs, views, files }),
      tlsProbe(rules, clock),
      traceroute(programs, rules),
      gitLog({ programs, views, measured, readable: paths }),
      gitShow({ programs, views, measured, readable: paths }),
      ...containerSkills(new ContainerEngine(policy), views, clock),
      databaseView(programs, views, policy),
      ...kubernetesSkills({ programs, views, policy }),
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
      checkProbe({ policy, rules, programs, commands, chromium, clock, ids }),
      checkDiscover({ policy, files, views, slow: disk, closed }),
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

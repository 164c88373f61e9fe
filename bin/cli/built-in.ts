import type { Entry } from './catalogue.ts';

/** Commands of svc itself: they start it, keep its data, run the agent, or help to write plugins. */
export const builtIn: Readonly<Record<string, Entry>> = {
  serve: { summary: 'Run svc in the foreground', load: () => import('./serve.ts') },
  install: { summary: 'Install svc as a system service', load: () => import('./install.ts') },
  uninstall: { summary: 'Remove the system service', load: () => import('./uninstall.ts') },
  update: { summary: 'Upgrade or roll back svc', load: () => import('../upkeep/cli/update.ts') },
  doctor: { summary: 'Check the installation', load: () => import('../upkeep/cli/doctor.ts') },
  export: {
    summary: 'Export the configuration to files for git',
    load: () => import('../upkeep/cli/export.ts'),
  },
  apply: { summary: 'Apply configuration files', load: () => import('../upkeep/cli/apply.ts') },
  run: {
    summary: 'Run a command and report it to a heartbeat',
    load: () => import('../upkeep/cli/run-job.ts'),
  },
  version: { summary: 'Show the version of svc', load: () => import('./version.ts') },
  help: {
    summary: 'Show help for a command',
    load: async (all) => ({ command: (await import('./help.ts')).helpOf(all) }),
  },
  completion: {
    summary: 'Print completion for bash, zsh or fish',
    load: async (all) => ({ command: (await import('./completion.ts')).completionOf(all) }),
  },
  'plugin new': { summary: 'Create a plugin', load: () => import('../dev/cli/plugin-new.ts') },
  'plugin build': {
    summary: 'Build a plugin for installation',
    load: () => import('../dev/cli/plugin-build.ts'),
  },
  'plugin check': { summary: 'Check a plugin', load: () => import('../dev/cli/plugin-check.ts') },
  'pack new': { summary: 'Create a pack', load: () => import('../dev/cli/pack-new.ts') },
  'pack check': { summary: 'Check a pack', load: () => import('../dev/cli/pack-check.ts') },
  'pack test': {
    summary: "Run a pack's tests",
    load: () => import('../dev/cli/pack-test.ts'),
  },
  'pack build': {
    summary: 'Build a pack into an archive',
    load: () => import('../dev/cli/pack-build.ts'),
  },
  'pack sign': {
    summary: 'Sign a pack archive',
    load: () => import('../dev/cli/pack-sign.ts'),
  },
  'pack publish': {
    summary: 'Publish a pack to a registry',
    load: () => import('../dev/cli/pack-publish.ts'),
  },
  'backup create': {
    summary: 'Back up the data folder',
    load: () => import('../upkeep/cli/backup-create.ts'),
  },
  'backup list': { summary: 'List backups', load: () => import('../upkeep/cli/backup-list.ts') },
  'backup verify': {
    summary: 'Verify a backup',
    load: () => import('../upkeep/cli/backup-verify.ts'),
  },
  'backup restore': {
    summary: 'Restore a backup',
    load: () => import('../upkeep/cli/backup-restore.ts'),
  },
  'storage move': {
    summary: 'Move the database to Postgres or back',
    load: () => import('../upkeep/cli/storage-move.ts'),
  },
  'node join': {
    summary: 'Join this machine to an installation as a node',
    load: () => import('../upkeep/cli/node-join.ts'),
  },
  edge: { summary: 'Run the agent in the foreground', load: () => import('../agent/cli/run.ts') },
  'edge install': {
    summary: 'Enrol this host and install its agent',
    load: () => import('../agent/cli/install.ts'),
  },
  'edge uninstall': {
    summary: 'Remove the agent from this host',
    load: () => import('../agent/cli/uninstall.ts'),
  },
  'edge status': {
    summary: "Show the agent's state",
    load: () => import('../agent/cli/status.ts'),
  },
};

import { words } from '../words.ts';

export const plugins = words('plugins', {
  title: 'Plugins',
  note: 'Every room of the house. Each can be taken away while the rest serves.',
  name: 'Plugin',
  state: 'State',
  version: 'Version',
  since: 'Since',
  none: 'There are no plugins.',
  reload: 'Load again',
  enable: 'Switch on',
  disable: 'Switch off',
  done: '{name}: {state}',
  requires: 'Needs',
  provides: 'Provides',
  dependents: 'Needed by',
  cause: 'Cause',
  residue: 'Left behind',
  generation: 'Generation',
  timings: 'How long its start took',
  strikes: 'Errors it was charged with',
  milliseconds: '{ms} ms',
});

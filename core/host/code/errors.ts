import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('host', {
  no_entry: [
    'invalid_argument',
    '{plugin}: plugin.json refers to the entry "{entry}", which is not in the plugin\'s folder; add the file or correct the name.',
  ],
  no_compiler: [
    'invalid_argument',
    '{plugin} is source code, which this build of svc cannot compile; build it first with "svc plugin build".',
  ],
  side_effects: [
    'invalid_argument',
    '{plugin} has side effects when its modules load ({grown}); move them into activate() or start().',
  ],
  no_definition: [
    'invalid_argument',
    '{plugin}: {file} has no default export created with definePlugin().',
  ],
  strays_stopped: ['conflict', '{what}: stopped by the host; use ctx.scope instead.'],
  no_evaluator: [
    'internal',
    'This version of Node ({node}) cannot load plugins: Module#_compile failed its self-check ({cause}); use Node 20 to 24.',
  ],
  module_not_lent: [
    'invalid_argument',
    '{plugin} imports "{module}", which the host does not provide to plugins; use ctx instead, or bundle the package.',
  ],
  process_call: ['conflict', 'A plugin must not call process.{name}: it would stop all of svc.'],
});

import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('host', {
  service_not_offered: [
    'invalid_argument',
    '{plugin} provides {service}, which its plugin.json does not declare; add it to "provides".',
  ],
  service_not_required: [
    'invalid_argument',
    '{plugin} uses {service}, which its plugin.json does not require; add it to "requires", or use maybe().',
  ],
  service_not_named: [
    'invalid_argument',
    '{plugin} looks up {service}, which its plugin.json does not list; add it to "optional".',
  ],
  emitted_early: [
    'conflict',
    '{plugin} emits {event} before it is active; emit from start() or later.',
  ],
  route_outside_mounts: [
    'invalid_argument',
    '{plugin} declares {path}, which is not under any of its mounts; add the prefix to "mounts" in plugin.json.',
  ],
  action_undeclared: [
    'invalid_argument',
    '{plugin} guards {path} with {action}, which its plugin.json does not declare; add it to "actions".',
  ],
  contribution: ['invalid_argument', '{plugin} contributes "{id}" to {point}: {problem}'],
  names_taken: [
    'conflict',
    '{label} of {plugin}: some names are already in use; see the details for each.',
  ],
  no_worker: [
    'invalid_argument',
    '{plugin} refers to "{entry}", which is not a *-worker.ts file next to its plugin.json{others}',
  ],
  thread_name: [
    'invalid_argument',
    '{plugin} starts a thread named "{name}"; use lower-case letters, digits and dashes.',
  ],
  thread_heap: [
    'invalid_argument',
    '{plugin} gives thread {name} a heap of {heap} MB; it must be from 16 to {max} MB.',
  ],
});

import { defineErrors } from '../sdk/index.ts';

export const errors = defineErrors('registry', {
  declared_late: [
    'conflict',
    '{plugin} declares {table} "{key}" after activate() has returned; declare it inside activate().',
  ],
  declared_twice: ['conflict', '{plugin} declares {table} "{key}" twice.'],
  handle_set: [
    'internal',
    'Service {service} is accessed through a handle; its fields cannot be set.',
  ],
  no_provider: ['unavailable', 'Service {service} is not available at the moment.'],
  key_taken: ['conflict', '{plugin} and {other} both declare {table} "{key}".'],
  timer_unset: ['unavailable', 'The timer was cancelled.'],
  scope_closed: ['conflict', '{scope} has ended, so "{what}" is no longer possible.'],
  scope_ended: ['unavailable', '{scope} has ended.'],
  scope_ending: ['unavailable', '{scope} is ending: {cause}.'],
});

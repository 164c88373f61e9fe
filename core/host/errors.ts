import { defineErrors, type ErrorCatalogue } from '../sdk/index.ts';
import { errors as codeErrors } from './code/errors.ts';
import { errors as contextErrors } from './context/errors.ts';
import { errors as folderErrors } from './folder/errors.ts';

export const errors = defineErrors('host', {
  plugin_late: ['unavailable', '{what} did not finish within {ms} ms.'],
  provided_twice: ['conflict', '{plugin} provides {service} twice.'],
  not_provided: [
    'invalid_argument',
    '{plugin} lists {service} under "provides" in its plugin.json, but activate() did not provide it.',
  ],
  critical_down: ['unavailable', 'Plugin "{plugin}" is critical and is {state}: {cause}'],
  plugin_disabled: ['conflict', '{plugin} is disabled; enable it first.'],
  plugin_critical: ['conflict', '{plugin} is critical and cannot be disabled.'],
  plugin_needed: [
    'conflict',
    '{plugin} is needed by {dependents}; disable it with cascade to block them too.',
  ],
  not_reloaded: ['conflict', '{plugin} is {state}: {cause}'],
  not_raised: ['conflict', '{plugin} failed in {stage}: {cause}'],
  old_serves: [
    'conflict',
    '{plugin} failed in {stage}: {cause}; generation {number} keeps running.',
  ],
  no_plugin: ['not_found', 'Plugin "{id}" does not exist.'],
  plugin_blocked: ['unavailable', '{plugin} is blocked: it {cause}.'],
  plugin_waiting: [
    'unavailable',
    '{plugin} is waiting for an administrator to accept its permissions.',
  ],
  plugin_off: ['unavailable', '{plugin} is disabled.'],
  plugin_quarantined: [
    'unavailable',
    '{plugin} is quarantined after repeated errors and will be retried.',
  ],
  plugin_starting: ['unavailable', '{plugin} is starting.'],
  plugin_retried: [
    'unavailable',
    "{plugin} has not started yet; svc keeps trying. An administrator can see the reason on the plugin's page.",
  ],
  plugin_failed: [
    'unavailable',
    "{plugin} failed to start; an administrator can see the reason on the plugin's page.",
  ],
});

/** Error catalogues of the host. */
export const hostErrors: readonly ErrorCatalogue[] = [
  errors,
  codeErrors,
  contextErrors,
  folderErrors,
];

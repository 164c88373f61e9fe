import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('skill', {
  no_edge: ['unavailable', '{key} runs on edges, and none can be reached now'],
  no_evidence: [
    'not_found',
    'there is no evidence {name} of yours; results are kept for skill.evidence_days, then asked for again',
  ],
  no_approvals: [
    'unavailable',
    '{key} needs an approval, and the plugin approval is not available; see svc plugin list',
  ],
  query_or_select: ['invalid_argument', 'tool_search takes either query or select'],
  no_guide: ['not_found', 'there is no guide {key}'],
  schema_broken: [
    'upstream_error',
    'the schema of {key} cannot be used: {cause}; correct it at its source',
  ],
  params_invalid: ['invalid_argument', 'the params of {key} are not valid: {sentences}'],
  filter: ['invalid_argument', 'filter is no RE2 pattern: {cause}'],
  no_tool: ['not_found', 'there is no tool {key}{detail}'],
  approval_mismatch: [
    'forbidden',
    'approval {approval} does not cover this call of {key}; ask for a new one',
  ],
  approval_needed: ['forbidden', '{key} takes the approval of {people} before it is run'],
  timed_out: ['unavailable', '{key} ran out of time'],
  not_reached: [
    'unavailable',
    '{name} cannot be reached: no edge that watches device {id} is online',
  ],
  no_skill: ['not_found', 'there is no skill {key}{detail}'],
  no_devices: [
    'unavailable',
    '{key} runs on a device, and the plugin device is not available; see svc plugin list',
  ],
  edge_failed: ['upstream_error', '{cause}'],
  edge_without_device: ['not_found', 'edge {edge} watches no device'],
  no_device: ['not_found', 'there is no device {device}'],
  runs_on_manager: [
    'invalid_argument',
    '{key} runs on the manager; leave out device_id and edge_id',
  ],
  runs_on_device: [
    'invalid_argument',
    '{key} runs on a device; name it by device_id or by edge_id',
  ],
});

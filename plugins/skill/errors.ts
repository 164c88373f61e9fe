import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('skill', {
  no_edge: ['unavailable', '{key} runs on edges, and none is available at the moment.'],
  no_evidence: [
    'not_found',
    'You have no evidence {name}; results are only stored for as long as skill.evidence_days allows: run the tool again.',
  ],
  evidence_area: [
    'forbidden',
    'Evidence {name} is a result of {tool}; the API token lacks {action}, which is needed to read it.',
  ],
  evidence_damaged: [
    'unavailable',
    '{file}, the text of evidence {name}, is damaged: restore it from a backup, or run the tool again.',
  ],
  no_approvals: [
    'unavailable',
    '{key} requires approval, but approvals are not available; see "svc plugin list".',
  ],
  query_or_select: ['invalid_argument', 'tool_search takes either query or select.'],
  look_changes: [
    'forbidden',
    'This host says that {key} makes changes, so no other tool may use it.',
  ],
  no_guide: ['not_found', 'There is no guide {key}.'],
  schema_broken: [
    'upstream_error',
    'The schema of {key} is invalid: {cause}; correct it at its source.',
  ],
  params_invalid: ['invalid_argument', 'The params of {key} are invalid: {sentences}'],
  filter: ['invalid_argument', '"filter" is not a valid RE2 pattern: {cause}'],
  no_tool: ['not_found', 'There is no tool {key}{detail}.'],
  approval_mismatch: [
    'forbidden',
    'Approval {approval} does not cover this call of {key}; request a new one.',
  ],
  approval_needed: ['forbidden', '{key} requires approval from {people} before it runs.'],
  timed_out: ['unavailable', '{key} timed out.'],
  not_reached: ['unavailable', '{name} is not reachable: no edge of device {id} is online.'],
  no_skill: ['not_found', 'There is no skill {key}{detail}.'],
  no_devices: [
    'unavailable',
    '{key} runs on a device, but devices are not available; see "svc plugin list".',
  ],
  edge_failed: ['upstream_error', '{cause}'],
  edge_without_device: ['not_found', 'Edge {edge} has no device.'],
  no_device: ['not_found', 'There is no device {device}.'],
  runs_on_manager: [
    'invalid_argument',
    '{key} runs on the manager; leave out device_id and edge_id.',
  ],
  runs_on_device: [
    'invalid_argument',
    '{key} runs on a device; specify it with device_id or edge_id.',
  ],
});

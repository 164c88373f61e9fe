import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  too_many_connecting: [
    'unavailable',
    'too many edges connect at this moment; come back in {retryAfterSeconds} s',
  ],
  no_event: ['invalid_argument', 'there is no event {event}; there are {list}'],
  connection_over: ['unavailable', 'this connection no longer serves an edge'],
  event_not_stored: ['unavailable', 'the event could not be stored; send it again'],
  conflict: [
    'forbidden',
    'several machines use the keys of edge {id}; say at the manager which one is meant (resolve)',
  ],
  push_form: [
    'invalid_argument',
    'a push has the texts "to", "type" and "body", and may have an "encoding"',
  ],
  enrolment_token: [
    'unauthorized',
    'the enrolment token is not valid: it is unknown, used up, expired or revoked; make a new one at the manager',
  ],
  expires_in: ['invalid_argument', 'expires_in is from 1m to 30d'],
  takes_device: [
    'forbidden',
    'an enrolment that takes a device over needs the action device:accept',
  ],
  one_machine: ['invalid_argument', 'one machine is a device: leave max_uses at 1'],
  no_device: ['not_found', 'there is no device {device}'],
  no_enrolment: ['not_found', 'there is no enrolment {id}'],
  machine_key: ['invalid_argument', 'machine_key is no public key'],
  too_many_attempts: [
    'rate_limited',
    'too many wrong tokens from this address; try again in {retryAfterSeconds} s',
  ],
  loopback_manager: [
    'conflict',
    'svc has no install script to hand out: other hosts cannot reach {url}, a loopback address; set SVC_PUBLIC_URL to one that they can reach, and let svc listen there',
  ],
  no_method: [
    'unavailable',
    'edge {edgeId} does not offer {method}: upgrade its agent, or allow it in policy.yaml of its machine',
  ],
  no_stream: [
    'unavailable',
    'edge {edgeId} does not offer streams to {service}: upgrade its agent, or allow it in policy.yaml of its machine',
  ],
  offline: ['unavailable', 'edge {edgeId} ({name}) is offline'],
  call_failed: ['upstream_error', 'edge {edgeId} could not do it: {cause}'],
  no_conflict: ['conflict', 'edge {id} is in no conflict'],
  own_machine_online: [
    'conflict',
    'edge {id} is online with its own machine; stop the agent there first, or rotate the secret to shut the other one out',
  ],
  secret_not_taken: [
    'conflict',
    'edge {id} has not taken its last new secret yet; wait until it has, or ask for "immediate"',
  ],
  grace: ['invalid_argument', 'grace is at most 24h'],
  immediate_and_grace: [
    'invalid_argument',
    '"immediate" and "grace" exclude each other: the old secret dies now, or at the end of the grace',
  ],
  too_many_edges: [
    'conflict',
    'there are {maxEdges} edges already, which is the limit; delete some that are gone',
  ],
  process_answer: [
    'upstream_error',
    'the answer of edge {edgeId} is no list of processes; upgrade its agent',
  ],
  snapshot_answer: [
    'upstream_error',
    'the answer of edge {edgeId} is no snapshot of a host; upgrade its agent',
  ],
  plugin_entry: [
    'invalid_argument',
    'it needs a name, a kind (metrics, logs, traces) and default_enabled',
  ],
  spec: ['invalid_argument', 'the spec does not fit the plugin {name}: {problem}'],
  no_plugin: ['not_found', 'edges have no plugin "{name}"; they have {detail}'],
  spec_too_large: ['invalid_argument', 'a spec has at most {largestSpec} bytes of JSON'],
  no_edge: ['not_found', 'there is no edge {id}'],
  skill_list_answer: [
    'upstream_error',
    'the answer of edge {edgeId} is no list of skills; upgrade its agent',
  ],
  no_skill: ['not_found', 'edge {edgeId} has no skill {key}'],
  skill_answer: [
    'upstream_error',
    'the answer of edge {edgeId} is no answer of a skill; upgrade its agent',
  ],
  two_approvals: [
    'forbidden',
    '{key} is dangerous: it takes the approval of two people, which cannot be given here',
  ],
  skill_not_allowed: ['forbidden', '{role} may not use {key}, which is {kind}; it takes {wanted}'],
  no_sha256: [
    'conflict',
    '{file}.sha256 is missing, or does not begin with 64 hexadecimal digits; write one with sha256sum',
  ],
  sha256_mismatch: [
    'conflict',
    'the digest of {file} is not the one in {file}.sha256; copy both files again',
  ],
  no_package_for: [
    'not_found',
    'there is no agent package svc-{version}-{arch} in {folder}; there {detail}',
  ],
  no_package: ['not_found', 'there is no agent package "{file}"'],
  package_size: [
    'conflict',
    'the agent package {file} has {count} bytes; it must have some, and at most {largest}',
  ],
  arch_unknown: [
    'conflict',
    'the architecture of the machine of edge {edgeId} is not known yet; name it with arch',
  ],
  upgrade_offline: ['unavailable', 'edge {edgeId} is offline; it can be upgraded when it is back'],
  upgrade_running: [
    'conflict',
    'an upgrade of edge {edgeId} is under way ({job_id}, {state}); wait for its end',
  ],
  package_url: [
    'invalid_argument',
    'url is an https address, or one of this manager, without user and password',
  ],
});

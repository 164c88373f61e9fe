import type { Policy } from 'svc/contracts/edge-uplink';

/** What skills may do where no owner has allowed anything. */
export const noSkills: Policy['skills'] = {
  enabled: false,
  paths: [],
  measure: [],
  views: [],
  containers: [],
  databases: [],
  commands: [],
  kubeconfig: undefined,
  browser: undefined,
  services: [],
  probes: [],
};

// Ends a process whose Node cannot run svc with one sentence. Read by Nodes of any age: no syntax younger than ES2015 but its exports.
export const oldest = [20, 19];

/** Why this Node cannot run svc; undefined when it can. */
export function nodeProblem(version) {
  const parts = version.split('.').map(Number);
  return parts[0] > oldest[0] || (parts[0] === oldest[0] && parts[1] >= oldest[1])
    ? undefined
    : `svc needs Node.js ${oldest[0]}.${oldest[1]} or newer, and ${process.execPath} is ${version}. ` +
        'Install a current release (https://nodejs.org, or "nvm install 24") and start again.';
}

const problem = nodeProblem(process.versions.node);
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}

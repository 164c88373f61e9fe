export { agentCommand } from './agent-command.ts';
export { askEdge } from './edge-door.ts';
export { testEdge } from './edge-self-test.ts';
export { serveEdge } from './serve-edge.ts';

// What most pages do without, loaded when it is first needed: findings, and the views of data other than pictures.

export { FindingsPage } from './pages/findings';
export { Angle, Axes, Ranked } from './render/orbit/rare';
export { Discs } from './render/orbit/discs';
export { ValueInput } from './render/tasks/values';
export { ValuesDetail } from './render/tasks/outputs';

// What most pages do without, loaded when it is first needed: findings, and the views of data and answers other than
// pictures and classes.

export { FindingsPage } from './pages/findings';
export { Runs } from './pages/runs';
export { sheetPages } from './pages/all';
export { Angle, Axes, Ranked } from './render/orbit/rare';
export { Discs } from './render/orbit/discs';
export { ValueInput } from './render/tasks/values';
export { Explore } from './views/explore';
export { Masks } from './views/masks';
export { ValuesDetail } from './render/tasks/outputs';
export { FramesInput } from './render/tasks/frames';
export { WindowInput } from './render/tasks/window';
export { BoxDetail } from './render/tasks/boxes';
export { FieldDetail } from './render/tasks/field';
export { FlowDetail } from './render/tasks/flow';
export { TensorDetail } from './render/tasks/tensor';
export { Tiles } from './render/orbit/tiles';
export { HeatMap, Shifts } from './render/orbit/heatmap';
export { TileWords } from './render/orbit/tilewords';

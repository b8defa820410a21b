// The one seam between tasks: what an input, an output and an answer look like. Everything else is shared by all tasks.

import type { JSX } from 'preact';
import type * as api from '../core/api';
import type { State } from '../core/state';
import { ClassDetail } from './tasks/classes';
import { Anything, rare } from './tasks/anything';

/** What a task brings along. */
export interface Renderer {
  /** The moved input; it can be dragged. */
  input(p: { s: State }): JSX.Element;
  /** What the models answer. */
  detail(p: { s: State }): JSX.Element;
  /** The heading of the detail view. */
  title: string;
  /** Columns of the table of samples that only this task has. */
  columns: readonly 'predicted'[];
}

const classes: Renderer = { input: Anything, detail: ClassDetail, title: 'Detail', columns: ['predicted'] };
const field: Renderer = { input: Anything, detail: rare('FieldDetail'), title: 'Detail', columns: [] };
const tensor: Renderer = { input: Anything, detail: rare('TensorDetail'), title: 'Detail', columns: [] };

const boxes: Renderer = { input: rare('WindowInput'), detail: rare('BoxDetail'), title: 'Detail', columns: [] };
const values: Renderer = { input: Anything, detail: rare('ValuesDetail'), title: 'Detail', columns: [] };
const flow: Renderer = { input: rare('FramesInput'), detail: rare('FlowDetail'), title: 'Detail', columns: [] };

/** The renderer for the output of a run. */
export function rendererOf(run: api.Run): Renderer {
  switch (run.output) {
    case 'scores':
    case 'probabilities':
    case 'logits':
      return classes;
    case 'image':
    case 'frames':
    case 'mask':
      return field;
    case 'rows':
    case 'record':
    case 'signal':
      return values;
    case 'boxes':
      return boxes;
    case 'field':
      return flow;
    default:
      return run.classes.length ? classes : tensor;
  }
}

"""The callback for Hugging Face's Trainer."""
import transformers

from xlaprof.callbacks._training import Training, place


class TrainerCallback(transformers.TrainerCallback):
    """Records steps of training, and forward with backward, optimizer and validation as scopes, of Hugging Face's Trainer.

    ``Trainer(callbacks=[TrainerCallback("runs")])`` records into the directory `runs`. Without a path, steps and scopes
    go to the recording that runs, such as that of XLAPROF_RECORD. A step ends with the optimizer's step, so it contains
    `gradient_accumulation_steps` batches. The time that the next batches take lies between two steps. What the Trainer
    logs becomes counters.
    """

    def __init__(self, path=None):
        self._training = Training(path)
        self._step, self._model, self._optimizer = place("train"), place("forward and backward"), place("optimizer")
        self._validation = place("validation")

    def on_train_begin(self, args, state, control, **kwargs):
        self._training.begin()

    def on_train_end(self, args, state, control, **kwargs):
        self._training.end()

    def on_step_begin(self, args, state, control, **kwargs):
        self._training.begin_step(state.global_step, self._step)
        self._training.begin_scope(self._model)

    def on_substep_end(self, args, state, control, **kwargs):
        self._training.end_scope(self._model)
        self._training.begin_scope(self._model)

    def on_pre_optimizer_step(self, args, state, control, **kwargs):
        self._training.end_scope(self._model)
        self._training.begin_scope(self._optimizer)

    def on_optimizer_step(self, args, state, control, **kwargs):
        self._training.end_scope(self._model)
        self._training.end_scope(self._optimizer)

    def on_step_end(self, args, state, control, **kwargs):
        self._training.end_scope(self._step)
        self._begin_validation(control)

    def on_epoch_end(self, args, state, control, **kwargs):
        self._training.end_scope(self._step)  # of an epoch that ended within a step
        self._begin_validation(control)

    def on_log(self, args, state, control, logs=None, **kwargs):
        self._training.count(logs)

    def on_evaluate(self, args, state, control, **kwargs):
        self._training.end_scope(self._validation)

    def _begin_validation(self, control):
        # The Trainer does not say when it begins to evaluate, only that it will do so after it has logged.
        if control.should_evaluate and not self._training.is_open(self._validation):
            self._training.begin_scope(self._validation)

from . import clip_grad_norm_ as clip_grad_norm_
